"use client";

import { Ban } from "lucide-react";
import type { ReactNode } from "react";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { ChainName } from "@/components/ui/chain-name";
import { EmptyState } from "@/components/ui/empty-state";
import { Card } from "@/components/ui/card";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import type { getMe } from "@/lib/contracts/auth";
import type { ResponseOf } from "@/lib/contracts/contract";

type SponsorBudget = ResponseOf<typeof getMe>["sponsorBudgets"][number];

const amountColumn = (id: string, header: string, value: (budget: SponsorBudget) => string): Column<SponsorBudget> => ({
  id,
  header,
  align: "right",
  cell: (budget) => <Amount value={value(budget)} unit={budget.symbol} />,
});

const COLUMNS: readonly Column<SponsorBudget>[] = [
  { id: "chain", header: "Chain", phone: "title", cell: ({ chainId }) => <ChainName chainId={chainId} /> },
  amountColumn("used", "Used today", ({ used }) => used),
  { ...amountColumn("reserved", "Reserved", ({ reserved }) => reserved), phone: "hidden", priority: "low" },
  {
    id: "remaining",
    header: "Left today",
    align: "right",
    phone: "aside",
    cell: ({ remaining, symbol }) =>
      /[1-9]/.test(remaining) ? (
        <Amount value={remaining} unit={symbol} className="font-medium" />
      ) : (
        <Badge tone="warning" icon={Ban} title="Operations that the sponsor would pay for are refused until the reset.">
          Used up
        </Badge>
      ),
  },
  { ...amountColumn("limit", "Daily limit", ({ dailyLimit }) => dailyLimit), priority: "medium" },
  {
    ...amountColumn("operation", "Per operation", ({ perOperation }) => perOperation),
    phone: "hidden",
    priority: "low",
  },
];

/** Shows the network fees that the project's sponsor pays today, by chain. */
export const SponsorBudgetsCard = ({ budgets }: { readonly budgets: readonly SponsorBudget[] }): ReactNode => {
  const [first] = budgets;
  return (
    <Card
      id="sponsor-budgets"
      title="Sponsor budgets"
      description="Network fees that the project's sponsor pays. Whoever runs this installation sets the limits."
      actions={
        first === undefined ? null : (
          <span className="text-sm text-fg-2">
            Resets at 00:00 UTC, <Time value={first.resetsAt} />
          </span>
        )
      }
      flush
    >
      {first === undefined ? (
        <EmptyState title="No sponsor">Wallets pay their network fees themselves on every chain.</EmptyState>
      ) : (
        <Table
          caption="Sponsor budgets by chain"
          columns={COLUMNS}
          rows={budgets}
          rowKey={({ chainId }) => String(chainId)}
        />
      )}
    </Card>
  );
};

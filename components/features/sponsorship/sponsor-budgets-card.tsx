"use client";

import { Ban } from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import { useReopen } from "@/components/features/approvals/use-reopen";
import { useMay } from "@/components/features/projects/use-project";
import { useChain } from "@/components/providers/public-config";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ChainName } from "@/components/ui/chain-name";
import { EmptyState } from "@/components/ui/empty-state";
import { Card } from "@/components/ui/card";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { BudgetDialog, type SponsorBudget } from "./budget-dialog";

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

const changeColumn = (onChange: (chainId: number) => void): Column<SponsorBudget> => ({
  id: "actions",
  header: "",
  align: "right",
  cell: ({ chainId }) => <ChangeButton chainId={chainId} onChange={onChange} />,
});

const ChangeButton = ({
  chainId,
  onChange,
}: {
  readonly chainId: number;
  readonly onChange: (chainId: number) => void;
}): ReactNode => {
  const name = useChain(chainId)?.name ?? `chain ${String(chainId)}`;
  return (
    <Button size="sm" aria-label={`Change the sponsor budget on ${name}`} onClick={() => onChange(chainId)}>
      Change
    </Button>
  );
};

/** Shows the network fees that the project's sponsor pays today, by chain, and lets owners and admins set the project's limits. */
export const SponsorBudgetsCard = ({ budgets }: { readonly budgets: readonly SponsorBudget[] }): ReactNode => {
  const mayChange = useMay("policies:manage");
  const [changing, setChanging] = useState<number | null>(null);
  useReopen("sponsor_budget ", (id) => setChanging(Number(id)));
  const columns = useMemo(() => (mayChange ? [...COLUMNS, changeColumn(setChanging)] : COLUMNS), [mayChange]);
  const changed = budgets.find(({ chainId }) => chainId === changing);
  const [first] = budgets;
  return (
    <Card
      id="sponsor-budgets"
      title="Sponsor budgets"
      description="Network fees that the project's sponsor pays. Owners and admins set the limits, up to what this installation allows."
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
          columns={columns}
          rows={budgets}
          rowKey={({ chainId }) => String(chainId)}
        />
      )}
      {changed === undefined ? null : <BudgetDialog budget={changed} onClose={() => setChanging(null)} />}
    </Card>
  );
};

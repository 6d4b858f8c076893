import type { ReactNode } from "react";
import { NamedAddress } from "@/components/features/names/names";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/marks";
import { EmptyState } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import type { Prepared } from "./types";

type Change = Prepared["simulation"]["balanceChanges"][number];

const CERTAINTY_WORDS = {
  simulated: "simulated",
  expected: "expected, after the bridge",
  minimum: "minimum",
} as const satisfies Record<Change["certainty"], string>;

const COLUMNS: readonly Column<Change>[] = [
  {
    id: "wallet",
    header: "Wallet",
    phone: "title",
    cell: (change) => <NamedAddress value={change.walletAddress} />,
  },
  { id: "chain", header: "Chain", cell: (change) => <ChainName chainId={change.chainId} /> },
  {
    id: "change",
    header: "Change",
    align: "right",
    cell: (change) => (
      <Amount
        value={change.change.replace(/^\+/, "")}
        unit={change.token.symbol}
        signed
        column={6}
        className={change.change.startsWith("-") ? "text-fg" : "text-success"}
      />
    ),
  },
  {
    id: "certainty",
    header: "How sure",
    cell: (change) => <span className="text-fg-2">{CERTAINTY_WORDS[change.certainty]}</span>,
  },
];

/** The balance changes that a simulation on the current state of the chains predicts. */
export const BalanceChanges = ({
  changes,
}: {
  readonly changes: readonly Change[];
}): ReactNode => (
  <section aria-labelledby="balance-changes" className="rounded-card border">
    <h3 id="balance-changes" className="border-b px-4 py-2 font-semibold">
      Balance changes
    </h3>
    {changes.length === 0 ? (
      <EmptyState title="The simulation changed no balance" />
    ) : (
      <Table
        caption="Simulated balance changes"
        columns={COLUMNS}
        rows={changes}
        rowKey={(change) =>
          `${change.walletAddress}-${String(change.chainId)}-${change.token.address}-${change.certainty}`
        }
      />
    )}
  </section>
);

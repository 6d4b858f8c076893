"use client";

import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useMemo, type ReactNode } from "react";
import { accountName, shortId } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import type { KnownAddress } from "@/lib/core/look-alike";
import { useKnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { useChain } from "@/components/providers/public-config";
import { Address, PublicId, TxHash } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { EmptyState } from "@/components/ui/empty-state";
import { AddressMark } from "@/components/ui/address-mark";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { VirtualTable } from "@/components/ui/virtual-table";
import { countText } from "@/lib/core/amount-text";
import { countsOf, ROW_STATES, type Payout } from "./payout";
import type { PayoutRow } from "./rows-file";
import { ROW_VIEWS } from "./row-views";

const ALL = "all";
const ROW_HEIGHT = 41;
const TEMPLATE =
  "md:grid-cols-[2.5rem_minmax(0,2fr)_minmax(0,1.1fr)_minmax(0,1.1fr)_minmax(0,1.3fr)_minmax(8.5rem,1fr)]";
const COLUMNS = [
  { id: "index", header: "#" },
  { id: "recipient", header: "Recipient" },
  { id: "amount", header: "Amount", align: "right" as const },
  { id: "reference", header: "Reference" },
  { id: "state", header: "State" },
  { id: "transaction", header: "Transaction" },
];

interface RowsTableProps {
  readonly payout: Payout;
  readonly rows: readonly PayoutRow[];
  /** A row that was chosen in the picture: it stands alone; null: all. */
  readonly chosen: number | null;
  readonly onChosen: (index: number | null) => void;
}

/** Every row with its state; ten thousand scroll smoothly. */
export const RowsTable = ({ payout, rows, chosen, onChosen }: RowsTableProps): ReactNode => {
  const [state, setState] = useQueryState("rows", parseAsStringLiteral(ROW_STATES).withOptions({ history: "replace" }));
  const counts = countsOf(payout);
  const { known } = useKnownAddresses();
  const shown = useMemo(
    () => rows.filter((row) => (chosen === null ? state === null || row.state === state : row.index === chosen)),
    [rows, state, chosen],
  );
  return (
    <Card
      flush
      title="Rows"
      actions={
        <span className="flex flex-wrap items-center justify-end gap-2">
          {counts.failed > 0 && state !== "failed" ? (
            <Button size="sm" variant="link" onClick={() => void setState("failed")}>
              {countText(counts.failed)} failed, show only these
            </Button>
          ) : null}
          {chosen === null ? null : (
            <Button size="sm" onClick={() => onChosen(null)}>
              Show all rows
            </Button>
          )}
          <Select
            label="State of the rows"
            value={state ?? ALL}
            onValueChange={(next) => {
              onChosen(null);
              void setState(ROW_STATES.find((one) => one === next) ?? null);
            }}
            options={[
              { value: ALL, label: "All rows" },
              ...ROW_STATES.map((value) => ({ value, label: ROW_VIEWS[value].word })),
            ]}
            className="h-8 w-40"
          />
        </span>
      }
    >
      {shown.length === 0 ? (
        <EmptyState title="No row is in this state" />
      ) : (
        <VirtualTable
          caption="Rows"
          template={TEMPLATE}
          columns={COLUMNS}
          count={shown.length}
          keyOf={(index) => shown[index]?.index ?? index}
          rowHeight={ROW_HEIGHT}
        >
          {(index) => {
            const row = shown[index];
            return row === undefined ? null : <RowCells payout={payout} row={row} known={known} />;
          }}
        </VirtualTable>
      )}
    </Card>
  );
};

interface RowCellsProps {
  readonly payout: Payout;
  readonly row: PayoutRow;
  readonly known: readonly KnownAddress[];
}

const Dash = (): ReactNode => <span className="text-fg-3">–</span>;

const RowCells = ({ payout, row, known }: RowCellsProps): ReactNode => {
  const view = ROW_VIEWS[row.state];
  const explorer = useChain(payout.kind === "wallets" ? payout.chainId : 0)?.explorerUrl ?? null;
  const comment = [row.reference, row.note].filter((each) => each !== "").join(" · ");
  return (
    <>
      <span role="rowheader" className="num text-sm text-fg-3 md:leading-10">
        {countText(row.index + 1)}
      </span>
      <span role="cell" className="min-w-0">
        {payout.kind === "wallets" ? (
          <Wallet address={row.recipient} known={known} />
        ) : (
          <AccountLink id={row.recipient} />
        )}
      </span>
      <span role="cell" className="md:text-right">
        <Amount value={row.amount} unit={row.unit} />
      </span>
      <span role="cell" className="truncate text-fg-2" title={comment}>
        {comment === "" ? <Dash /> : comment}
      </span>
      <span role="cell" className="min-w-0">
        <Badge tone={view.tone} icon={view.icon} title={row.failure === "" ? view.word : row.failure}>
          {row.failure === "" ? view.word : row.failure}
        </Badge>
      </span>
      <span role="cell" className="min-w-0">
        {row.transaction === "" ? (
          <Dash />
        ) : payout.kind === "wallets" ? (
          <TxHash value={row.transaction} href={explorer === null ? null : `${explorer}/tx/${row.transaction}`} />
        ) : (
          <PublicId value={row.transaction} />
        )}
      </span>
    </>
  );
};

const Wallet = ({
  address,
  known,
}: {
  readonly address: string;
  readonly known: readonly KnownAddress[];
}): ReactNode => {
  const name = known.find((one) => one.as !== "earlier" && one.address.toLowerCase() === address.toLowerCase())?.name;
  return <Address value={address} name={name} />;
};

const AccountLink = ({ id }: { readonly id: string }): ReactNode => {
  const account = useKnownAccounts().find((one) => one.id === id);
  return (
    <span className="inline-flex items-center gap-0.5">
      <AddressMark value={id} className="mr-1.5" />
      <Link href={`/accounts/${id}`} className="link" title={id}>
        {account === undefined ? shortId(id) : accountName(account)}
      </Link>
      <CopyButton value={id} label="Copy id of the recipient" />
    </span>
  );
};

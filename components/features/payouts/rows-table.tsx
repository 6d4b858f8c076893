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
import { cn } from "@/components/ui/cn";
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
import { ROW_VIEWS, stateText } from "./row-views";

const ALL = "all";
const ROW_HEIGHT = 41;
/** On phones a card: recipient and amount, reference and state, then the transaction. */
const CARD = "max-md:grid-cols-[minmax(0,1fr)_auto]";
const TEMPLATES = {
  unsent: `${CARD} md:grid-cols-[2rem_minmax(0,2fr)_minmax(7.5rem,1fr)_minmax(0,1.3fr)_minmax(6rem,1fr)]`,
  sent: `${CARD} md:grid-cols-[2rem_minmax(0,2fr)_minmax(7.5rem,1fr)_minmax(0,1.3fr)_minmax(6rem,1fr)] min-[1400px]:grid-cols-[2rem_minmax(0,2fr)_minmax(7.5rem,1fr)_minmax(0,1.1fr)_minmax(6rem,1fr)_8.75rem]`,
};
const COLUMNS = [
  { id: "index", header: "#" },
  { id: "recipient", header: "Recipient" },
  { id: "amount", header: "Amount", align: "right" as const },
  { id: "reference", header: "Reference", spaced: true },
  { id: "state", header: "State" },
];
/** Leaves out the column of transactions where the table lacks space: the file of the rows names them too. */
const WIDE_ONLY = "md:max-[1400px]:hidden";
const SENT_COLUMNS = [...COLUMNS, { id: "transaction", header: "Transaction", className: WIDE_ONLY }];

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
  const isSent = rows.some(({ transaction }) => transaction !== "");
  const shown = useMemo(
    () => rows.filter((row) => (chosen === null ? state === null || row.state === state : row.index === chosen)),
    [rows, state, chosen],
  );
  return (
    <Card
      flush
      id="rows"
      title="Rows"
      actions={
        <span className="flex flex-wrap items-center justify-end gap-2">
          {counts.failed > 0 && state !== "failed" ? (
            <Button size="sm" variant="link" onClick={() => void setState("failed")}>
              {countText(counts.failed)} failed, show only these
            </Button>
          ) : null}
          {counts.doubt > 0 && state !== "doubt" ? (
            <Button size="sm" variant="link" onClick={() => void setState("doubt")}>
              {countText(counts.doubt)} in doubt, show only these
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
          template={isSent ? TEMPLATES.sent : TEMPLATES.unsent}
          columns={isSent ? SENT_COLUMNS : COLUMNS}
          count={shown.length}
          keyOf={(index) => shown[index]?.index ?? index}
          rowHeight={ROW_HEIGHT}
        >
          {(index) => {
            const row = shown[index];
            return row === undefined ? null : <RowCells payout={payout} row={row} known={known} isSent={isSent} />;
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
  /** Whether any row of the payout has a transaction. */
  readonly isSent: boolean;
}

const Dash = ({ className }: { readonly className?: string }): ReactNode => (
  <span className={cn("text-fg-3", className)}>–</span>
);

const RowCells = ({ payout, row, known, isSent }: RowCellsProps): ReactNode => {
  const view = ROW_VIEWS[row.state];
  const explorer = useChain(payout.kind === "wallets" ? payout.chainId : 0)?.explorerUrl ?? null;
  const comments = [row.reference, row.note].filter((each) => each !== "");
  return (
    <>
      <span role="rowheader" className="num text-sm text-fg-3 max-md:sr-only md:leading-10">
        {countText(row.index + 1)}
      </span>
      <span role="cell" className="min-w-0">
        {payout.kind === "wallets" ? (
          <Wallet address={row.recipient} known={known} />
        ) : (
          <AccountLink id={row.recipient} />
        )}
      </span>
      <span role="cell" className="text-right whitespace-nowrap">
        <Amount value={row.amount} unit={row.unit} />
      </span>
      <span role="cell" className="truncate text-fg-2 md:pl-4" title={comments.join(" · ")}>
        {comments[0] ?? <Dash className="max-md:invisible" />}
      </span>
      <span role="cell" className="min-w-0 max-md:max-w-40 max-md:text-right">
        <Badge tone={view.tone} icon={view.icon} title={row.failure === "" ? view.word : row.failure}>
          {stateText(row)}
        </Badge>
      </span>
      {isSent ? (
        <span role="cell" className={cn("min-w-0 max-md:col-span-2", WIDE_ONLY)}>
          {row.transaction === "" ? (
            <Dash />
          ) : payout.kind === "wallets" ? (
            <TxHash value={row.transaction} href={explorer === null ? null : `${explorer}/tx/${row.transaction}`} />
          ) : (
            <PublicId value={row.transaction} />
          )}
        </span>
      ) : null}
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
  // A row is one line; the address of a name is in the title and in the copy.
  return name === undefined ? (
    <Address value={address} />
  ) : (
    <span className="flex min-w-0 items-center gap-0.5" title={address}>
      <AddressMark value={address} className="mr-1.5" />
      <span className="truncate">{name}</span>
      <CopyButton value={address} label="Copy address" />
    </span>
  );
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

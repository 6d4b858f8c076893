"use client";

import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useMemo, type ReactNode } from "react";
import { AccountLink } from "@/components/features/global-accounts/account-link";
import { recipientView, useKnownAddresses } from "@/components/features/transfer/recipient";
import { useChain } from "@/components/providers/public-config";
import { Address, AddressMark, PublicId, TxHash } from "@/components/ui/address";
import { Amount, columnTail, type ColumnTail } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button, CopyButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Select } from "@/components/ui/select";
import { Shortened } from "@/components/ui/shortened";
import { EmptyState } from "@/components/ui/states";
import { VirtualTable } from "@/components/ui/virtual-table";
import { countText } from "@/lib/core/amount-text";
import type { KnownAddress } from "@/lib/core/look-alike";
import { countsOf, ROW_STATES, type Payout } from "./payout";
import type { PayoutRow } from "./rows-file";
import { ROW_VIEWS, stateText } from "./use-payout-rows";

const ALL = "all";
const ROW_HEIGHT = 41;
/**
 * Grid columns on phones, where a row is a card: recipient and amount, reference and state, then
 * the transaction. The ranges of widths of `CARD`, `NARROW` and `TEMPLATES` do not overlap.
 */
const CARD = "max-md:grid-cols-[minmax(0,1fr)_auto]";
/**
 * Grid columns of a narrow table. It leaves out the reference and the transaction, which are in the
 * rows' CSV file.
 */
const NARROW =
  "md:@max-[36rem]:grid-cols-[2rem_minmax(9rem,2fr)_minmax(8rem,1fr)_minmax(6.5rem,1fr)]";
/** Grid columns of all widths, without and with the column of transactions. */
const TEMPLATES = {
  unsent: `${CARD} ${NARROW} md:@min-[36rem]:grid-cols-[2rem_minmax(9rem,2fr)_minmax(8rem,1fr)_minmax(5rem,1.1fr)_minmax(6.5rem,1fr)]`,
  sent: `${CARD} ${NARROW} md:@min-[36rem]:@max-[48rem]:grid-cols-[2rem_minmax(9rem,2fr)_minmax(8rem,1fr)_minmax(5rem,1.1fr)_minmax(6.5rem,1fr)] md:@min-[48rem]:grid-cols-[2rem_minmax(9rem,2fr)_minmax(8rem,1fr)_minmax(5rem,1.1fr)_minmax(6.5rem,1fr)_8.75rem]`,
};
const REFERENCE_ONLY = "md:@max-[36rem]:hidden";
const COLUMNS = [
  { id: "index", header: "#" },
  { id: "recipient", header: "Recipient" },
  { id: "amount", header: "Amount", align: "right" as const },
  { id: "reference", header: "Reference", spaced: true, className: REFERENCE_ONLY },
  { id: "state", header: "State" },
];
const WIDE_ONLY = "md:@max-[48rem]:hidden";
const SENT_COLUMNS = [
  ...COLUMNS,
  { id: "transaction", header: "Transaction", className: WIDE_ONLY },
];

interface RowsTableProps {
  readonly payout: Payout;
  readonly rows: readonly PayoutRow[];
  /** The row that was selected in the picture. Only this row is then shown; null shows all rows. */
  readonly chosen: number | null;
  readonly onChosen: (index: number | null) => void;
}

/**
 * Every row with its state. Only the visible rows are rendered, so that 10,000 rows scroll
 * smoothly.
 */
export const RowsTable = ({ payout, rows, chosen, onChosen }: RowsTableProps): ReactNode => {
  const [state, setState] = useQueryState(
    "rows",
    parseAsStringLiteral(ROW_STATES).withOptions({ history: "replace" }),
  );
  const counts = countsOf(payout);
  const { known } = useKnownAddresses(payout.kind === "wallets" ? payout.chainId : null);
  const isSent = rows.some(({ transaction }) => transaction !== "");
  const tail = useMemo(
    () => columnTail(rows.map(({ amount, unit }) => ({ value: amount, symbol: unit }))),
    [rows],
  );
  const shown = useMemo(() => {
    if (chosen !== null) return rows.filter((row) => row.index === chosen);
    return state === null ? rows : rows.filter((row) => row.state === state);
  }, [rows, state, chosen]);
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
            return row === undefined ? null : (
              <RowCells payout={payout} row={row} known={known} isSent={isSent} tail={tail} />
            );
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
  readonly tail: ColumnTail;
}

const Dash = ({ className }: { readonly className?: string }): ReactNode => (
  <span className={cn("text-fg-3", className)}>–</span>
);

const RowCells = ({ payout, row, known, isSent, tail }: RowCellsProps): ReactNode => {
  const view = ROW_VIEWS[row.state];
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
          <span className="flex min-w-0 items-center gap-0.5">
            <AddressMark value={row.recipient} className="mr-1.5" />
            <AccountLink id={row.recipient} copyLabel="Copy id of the recipient" />
          </span>
        )}
      </span>
      <span role="cell" className="text-right whitespace-nowrap">
        <Amount value={row.amount} unit={row.unit} column={tail} />
      </span>
      <span
        role="cell"
        className={cn("truncate text-fg-2 md:pl-4", REFERENCE_ONLY)}
        title={comments.join(" · ")}
      >
        {comments[0] ?? <Dash className="max-md:invisible" />}
      </span>
      <span role="cell" className="min-w-0 max-md:max-w-40 max-md:text-right">
        <Badge
          tone={view.tone}
          icon={view.icon}
          title={row.failure === "" ? view.word : row.failure}
        >
          {stateText(row)}
        </Badge>
      </span>
      {isSent ? (
        <span role="cell" className={cn("min-w-0 max-md:col-span-2", WIDE_ONLY)}>
          <Transaction payout={payout} id={row.transaction} />
        </span>
      ) : null}
    </>
  );
};

interface TransactionProps {
  readonly payout: Payout;
  /** Empty while the row has no transaction. */
  readonly id: string;
}

const Transaction = ({ payout, id }: TransactionProps): ReactNode => {
  const explorer = useChain(payout.kind === "wallets" ? payout.chainId : 0)?.explorerUrl;
  if (id === "") return <Dash />;
  if (payout.kind !== "wallets") return <PublicId value={id} />;
  return <TxHash value={id} href={explorer == null ? null : `${explorer}/tx/${id}`} />;
};

interface WalletProps {
  readonly address: string;
  readonly known: readonly KnownAddress[];
}

const Wallet = ({ address, known }: WalletProps): ReactNode => {
  const view = recipientView(address, known);
  const name = view.as === "own" || view.as === "contact" ? view.name : undefined;
  // A row has one line, so the address of a named wallet is in the title and in the copy button.
  return name === undefined ? (
    <Address value={address} />
  ) : (
    <span className="flex min-w-0 items-center gap-0.5">
      <AddressMark value={address} className="mr-1.5" />
      <Shortened detail={address}>{name}</Shortened>
      <CopyButton value={address} label="Copy address" />
    </span>
  );
};

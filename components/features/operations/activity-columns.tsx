"use client";

import type { ReactNode } from "react";
import { Amount, columnDigits, Unknown, Usd, type ColumnDigits } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { useTitleOptions } from "@/components/ui/use-title-options";
import { useHideableText } from "@/components/ui/hideable-text";
import { RowLink } from "@/components/ui/row-link";
import { StatusBadge } from "@/components/ui/status-badge";
import type { Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { pathOfEntry, payoutTitleOf, wordsOf, type ActivityRow } from "./activity-entry";
import { sumByAsset } from "./asset-sums";
import { EntryWay } from "./entry-way";

/** Amounts of a row; with more assets the last line counts the others, so that no row grows. */
const ASSETS_SHOWN = 2;

interface CellProps {
  readonly row: ActivityRow;
  readonly digits: ColumnDigits;
}

/** The chain records no sender of native coins; of such a deposit the amount that arrived was sent. */
const partsSent = ({ kind, sent, received }: ActivityRow): ActivityRow["sent"] =>
  kind === "deposit" && sent.length === 0 && received !== null ? [received] : sent;

const Sent = ({ row, digits }: CellProps): ReactNode => {
  const sums = sumByAsset(partsSent(row));
  const shown = sums.length > ASSETS_SHOWN ? sums.slice(0, ASSETS_SHOWN - 1) : sums;
  const others = sums.slice(shown.length);
  const hideable = useHideableText();
  return (
    <span className="inline-flex flex-col items-end whitespace-nowrap">
      {shown.map((sum) => (
        <Amount key={sum.assetId} value={sum.amount} unit={sum.symbol} plain column={digits} />
      ))}
      {others.length === 0 ? null : (
        <span
          className="text-sm text-fg-3"
          title={hideable(others.map(({ amount, symbol }) => `${amount} ${symbol}`).join(", "))}
        >
          and {others.length} more
        </span>
      )}
    </span>
  );
};

/** The amount that arrived once the movement is final; before that, the promised amount. */
const Received = ({ row: { status, received, minimum, kind }, digits }: CellProps): ReactNode => {
  if (minimum !== null && !isFinal(status) && kind !== "deposit")
    return (
      <span className="whitespace-nowrap text-fg-3" title="The minimum that will arrive">
        <span className="text-sm">min.</span>{" "}
        <Amount value={minimum.amount} unit={minimum.token.symbol} plain column={digits} />
      </span>
    );
  return received === null ? (
    <Unknown reason="Several tokens: see the payout" />
  ) : (
    <span className="whitespace-nowrap">
      <Amount value={received.amount} unit={received.token.symbol} plain column={digits} />
    </span>
  );
};

/** A payout by its title, with its kind below it; what else moved by its kind. */
const Title = ({ row }: { readonly row: ActivityRow }): ReactNode => {
  const title = payoutTitleOf(row, useTitleOptions());
  const words = wordsOf(row);
  return title === null ? (
    <RowLink href={pathOfEntry(row)}>{words}</RowLink>
  ) : (
    <span className="flex max-w-64 min-w-0 flex-col" title={title}>
      <RowLink href={pathOfEntry(row)} className="truncate">
        {title}
      </RowLink>
      <span className="truncate text-sm text-fg-3">{words}</span>
    </span>
  );
};

const Note = ({ row: { memo, tags } }: { readonly row: ActivityRow }): ReactNode => (
  <span className="flex max-w-24 items-center gap-1 overflow-hidden">
    {memo === "" ? null : (
      <span className="truncate text-fg-2" title={memo}>
        {memo}
      </span>
    )}
    {tags.map((tag) => (
      <Badge key={tag}>{tag}</Badge>
    ))}
  </span>
);

const NOTE: Column<ActivityRow> = {
  id: "note",
  header: "Memo",
  phone: "hidden",
  priority: "least",
  cell: (row) => <Note row={row} />,
};

const beforeNote = (digits: ColumnDigits): readonly Column<ActivityRow>[] => [
  {
    id: "kind",
    header: "What",
    phone: "title",
    className: "@min-[40rem]:whitespace-nowrap",
    cell: (row) => <Title row={row} />,
  },
  {
    id: "way",
    header: "From → to",
    bare: true,
    // Takes the width that the other columns leave, whatever its names need, and at least that of a short name between two chains.
    className: "@min-[60rem]:w-full @min-[60rem]:max-w-0 @min-[60rem]:min-w-48",
    cell: (row) => <EntryWay row={row} />,
  },
  { id: "sent", header: "Sent", align: "right", bare: true, cell: (row) => <Sent row={row} digits={digits} /> },
  {
    id: "received",
    header: "Received",
    align: "right",
    phone: "hidden",
    priority: "lowest",
    cell: (row) => <Received row={row} digits={digits} />,
  },
  {
    id: "usd",
    header: <span title="In US dollars, as it was priced then">Value</span>,
    align: "right",
    phone: "hidden",
    priority: "low",
    className: "whitespace-nowrap",
    cell: (row) => (row.usd === null ? <Unknown reason="No price was recorded then" /> : <Usd value={row.usd} plain />),
  },
  {
    id: "status",
    header: "Status",
    phone: "aside",
    cell: (row) => <StatusBadge status={row.status} subStatus={row.subStatus} />,
  },
];

const TIME: Column<ActivityRow> = {
  id: "time",
  header: "Started",
  align: "right",
  bare: true,
  priority: "medium",
  // The width of "11 minutes ago", so that no column moves when the browser writes it in place of the date.
  className: "whitespace-nowrap @min-[40rem]:min-w-32",
  cell: (row) => <Time value={row.createdAt} />,
};

/** The columns of the list; a column with memos and tags when one of the rows has any. */
export const activityColumns = (rows: readonly ActivityRow[]): readonly Column<ActivityRow>[] => {
  const parts = rows.flatMap(({ sent, received, minimum }) => [...sent, received ?? [], minimum ?? []].flat());
  const columns = beforeNote(columnDigits(parts.map(({ token }) => token.symbol)));
  return rows.some(({ memo, tags }) => memo !== "" || tags.length > 0) ? [...columns, NOTE, TIME] : [...columns, TIME];
};

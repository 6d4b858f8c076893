"use client";

import { Landmark, ShieldCheck, Users } from "lucide-react";
import type { ReactNode } from "react";
import { Counterparty, Party } from "@/components/features/names/names";
import { usePublicConfig } from "@/components/providers/public-config";
import { shorten } from "@/components/ui/address";
import { Amount, columnTail, type ColumnTail, Unknown, Worth } from "@/components/ui/amount";
import { Badge, StatusBadge } from "@/components/ui/badge";
import { ChainMark, ChainName } from "@/components/ui/marks";
import { cn } from "@/components/ui/cn";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { Shortened } from "@/components/ui/shortened";
import { type Column, RowLink } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { useTitleOptions } from "@/components/ui/use-locale";
import { isFinal } from "@/lib/core/status";
import { type ActivityRow, pathOfEntry, payoutTitleOf, wordsOf } from "./activity-entry";
import { sumByAsset } from "./operation-sums";

/**
 * The maximum number of lines of amounts in a row. With more assets, the last line shows the
 * number of the other assets, so that the row does not grow.
 */
const ASSETS_SHOWN = 2;

interface CellProps {
  readonly row: ActivityRow;
  readonly tail: ColumnTail;
}

/**
 * The sent amounts of a row. Deposits of native coins have no recorded sender, so their received
 * amount is shown as sent.
 */
const partsSent = ({ kind, sent, received }: ActivityRow): ActivityRow["sent"] =>
  kind === "deposit" && sent.length === 0 && received !== null ? [received] : sent;

/** The lines of a row in the column "Sent", and the assets that have no line. */
const sentOf = (row: ActivityRow) => {
  const sums = sumByAsset(partsSent(row));
  const shown = sums.length > ASSETS_SHOWN ? sums.slice(0, ASSETS_SHOWN - 1) : sums;
  return { shown, others: sums.slice(shown.length) };
};

const Sent = ({ row, tail }: CellProps): ReactNode => {
  const { shown, others } = sentOf(row);
  const hideable = useHideableText();
  return (
    <span className="inline-flex flex-col items-end whitespace-nowrap">
      {shown.map((sum) => (
        <Amount key={sum.assetId} value={sum.amount} unit={sum.symbol} plain column={tail} />
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

/** The received amount once the movement is final; before that, the minimum that will arrive. */
const receivedOf = ({ status, received, minimum, kind }: ActivityRow) =>
  minimum !== null && !isFinal(status) && kind !== "deposit"
    ? { isMinimum: true, moved: minimum }
    : { isMinimum: false, moved: received };

const Received = ({ row, tail }: CellProps): ReactNode => {
  const { isMinimum, moved } = receivedOf(row);
  if (moved === null) return <Unknown reason="Several tokens: see the payout" />;
  const amount = <Amount value={moved.amount} unit={moved.token.symbol} plain column={tail} />;
  if (isMinimum)
    return (
      <span className="whitespace-nowrap text-fg-3" title="The minimum that will arrive">
        <span className="text-sm">min.</span> {amount}
      </span>
    );
  return amount;
};

const Title = ({ row }: { readonly row: ActivityRow }): ReactNode => {
  const title = payoutTitleOf(row, useTitleOptions());
  const words = wordsOf(row);
  return title === null ? (
    <RowLink href={pathOfEntry(row)}>{words}</RowLink>
  ) : (
    <span className="flex min-w-0 flex-col">
      <RowLink href={pathOfEntry(row)} className="@max-[40rem]:line-clamp-1">
        {title}
      </RowLink>
      <Shortened className="text-sm font-normal text-fg-3">{words}</Shortened>
    </span>
  );
};

const Note = ({ row: { memo, tags } }: { readonly row: ActivityRow }): ReactNode => (
  <span className="flex max-w-24 items-center gap-1">
    {memo === "" ? null : <Shortened className="text-fg-2">{memo}</Shortened>}
    {tags.map((tag) => (
      <Badge key={tag} title={tag} className="min-w-0">
        {tag}
      </Badge>
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

interface Tails {
  readonly sent: ColumnTail;
  readonly received: ColumnTail;
}

/**
 * Classes of the title column. It shares the width that the other columns leave with the way
 * column.
 */
const TITLE_WIDTH = "@min-[40rem]:w-[44%] @min-[40rem]:max-w-0 @min-[40rem]:min-w-32";
/** Classes of the way column; see `TITLE_WIDTH`. */
const WAY_WIDTH = "@min-[40rem]:w-[56%] @min-[40rem]:max-w-0 @min-[40rem]:min-w-40";

const beforeNote = ({ sent, received }: Tails): readonly Column<ActivityRow>[] => [
  {
    id: "kind",
    header: "What",
    phone: "title",
    grow: false,
    className: TITLE_WIDTH,
    cell: (row) => <Title row={row} />,
  },
  {
    id: "way",
    header: "From → to",
    bare: true,
    className: WAY_WIDTH,
    cell: (row) => <EntryWay row={row} />,
  },
  {
    id: "sent",
    header: "Sent",
    align: "right",
    bare: true,
    cell: (row) => <Sent row={row} tail={sent} />,
  },
  {
    id: "received",
    header: "Received",
    align: "right",
    phone: "hidden",
    priority: "lowest",
    cell: (row) => <Received row={row} tail={received} />,
  },
  {
    id: "usd",
    header: <span title="As it was priced then">Value</span>,
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: (row) =>
      row.usd === null ? (
        <Unknown reason="No price was recorded then" />
      ) : (
        <Worth value={row.usd} plain />
      ),
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
  // The column has the width of "11 minutes ago". The browser replaces the date by such a text,
  // and the columns must not move.
  className: "@min-[40rem]:min-w-32",
  cell: (row) => <Time value={row.createdAt} />,
};

/** The columns of the list. The column for memos and tags is shown only when a row has one. */
export const activityColumns = (
  rows: readonly ActivityRow[],
): readonly Column<ActivityRow>[] => {
  const sent = rows
    .flatMap((row) => sentOf(row).shown)
    .map(({ amount, symbol }) => ({ value: amount, symbol }));
  const received = rows
    .flatMap((row) => receivedOf(row).moved ?? [])
    .map(({ amount, token }) => ({ value: amount, symbol: token.symbol }));
  const columns = beforeNote({ sent: columnTail(sent), received: columnTail(received) });
  return rows.some(({ memo, tags }) => memo !== "" || tags.length > 0)
    ? [...columns, NOTE, TIME]
    : [...columns, TIME];
};

/**
 * The chains of a movement. A single chain is shown by its mark and name, several chains by up to
 * three marks. Where space is short, the name is truncated and the marks stay whole.
 */
const Chains = ({ ids }: { readonly ids: readonly number[] }): ReactNode => {
  const { chains } = usePublicConfig();
  const [only, ...others] = [...new Set(ids)];
  if (only === undefined) return null;
  if (others.length === 0)
    return (
      <span className="shrink-0">
        <ChainName chainId={only} />
      </span>
    );
  const names = [only, ...others].map(
    (id) => chains.find((chain) => chain.id === id)?.name ?? `Chain ${String(id)}`,
  );
  return (
    <span
      className="inline-flex shrink-0 items-center gap-1 align-middle whitespace-nowrap"
      title={names.join(", ")}
    >
      {names.slice(0, MARKS_MAX).map((name) => (
        <ChainMark key={name} name={name} />
      ))}
      <span className="sr-only">{names.join(", ")}</span>
    </span>
  );
};

const MARKS_MAX = 3;

const Marked = ({ mark, id, className, children }: MarkedProps): ReactNode => (
  <span className={cn("inline-flex min-w-0 items-center gap-1.5 align-middle", className)}>
    {mark}
    <Shortened detail={id}>{children}</Shortened>
  </span>
);

interface MarkedProps {
  readonly mark: ReactNode;
  /** The id of the object. The title shows it after the text. */
  readonly id?: string;
  readonly className?: string;
  readonly children: string;
}

const MARK = "size-4 shrink-0 text-fg-3";

const Account = ({
  accountId,
  name,
}: {
  readonly accountId: string;
  readonly name: string | null;
}): ReactNode => (
  <Marked mark={<Landmark aria-hidden className={MARK} />} id={accountId}>
    {name ?? shorten(accountId, 8)}
  </Marked>
);

const Receiver = ({
  party,
}: {
  readonly party: NonNullable<ActivityRow["counterparty"]>;
}): ReactNode => {
  switch (party.type) {
    case "address":
      return <Party address={party.address} className="max-w-full" />;
    case "account":
      return <Account {...party} />;
    case "private_wallet":
      return (
        <Marked
          mark={<ShieldCheck aria-hidden className="size-4 shrink-0 text-private" />}
          id={party.privacyWalletId}
        >
          Private wallet
        </Marked>
      );
    case "recipients":
      return (
        <Marked mark={<Users aria-hidden className={MARK} />} className="shrink-0">
          {`${String(party.count)} ${party.count === 1 ? "recipient" : "recipients"}`}
        </Marked>
      );
  }
};

const RESERVES = (
  <Marked mark={<Landmark aria-hidden className={MARK} />} className="shrink-0">
    Reserves
  </Marked>
);

const Origin = ({ row: { source, sent } }: { readonly row: ActivityRow }): ReactNode => {
  if (source !== null) return <Account {...source} />;
  const chains = sent.flatMap(({ token }) => token.chainId ?? []);
  return chains.length === 0 ? RESERVES : <Chains ids={chains} />;
};

const ARROW = (
  <>
    {" "}
    <span aria-label="to" className="shrink-0">
      →
    </span>{" "}
  </>
);

/** Keeps an entry on one line, where names are truncated. */
const LOOKS = "flex min-w-0 items-center gap-x-1 whitespace-nowrap text-fg-2";

/**
 * A deposit shows its sender and its chain; other movements show their origin and receiver. A
 * movement within one chain shows the chain once. Accounts have no chain.
 */
const EntryWay = ({ row }: { readonly row: ActivityRow }): ReactNode => {
  const { kind, source, counterparty, sent, received, minimum } = row;
  const toChain = (received ?? minimum)?.token.chainId ?? null;
  const staysOnChain = source === null && sent.every(({ token }) => token.chainId === toChain);
  if (kind === "deposit")
    return (
      <span className={LOOKS}>
        {counterparty === null ? (
          <Counterparty address={null} />
        ) : (
          <Receiver party={counterparty} />
        )}
        {ARROW}
        {toChain === null ? null : <ChainName chainId={toChain} className="min-w-0 truncate" />}
      </span>
    );
  return (
    <span className={LOOKS}>
      <Origin row={row} />
      {ARROW}
      {counterparty === null ? RESERVES : <Receiver party={counterparty} />}
      {toChain === null || staysOnChain ? null : (
        // Only the chain's mark is visible, because the line has no room for the names of two
        // chains and the receiver.
        <span className="shrink-0">
          <span className="sr-only"> on </span>
          <ChainName chainId={toChain} nameClassName="sr-only" />
        </span>
      )}
    </span>
  );
};

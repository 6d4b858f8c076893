"use client";

import { Landmark, ShieldCheck, Users } from "lucide-react";
import type { ReactNode } from "react";
import { Counterparty, Party } from "@/components/features/names/names";
import { usePublicConfig } from "@/components/providers/public-config";
import { shorten } from "@/components/ui/address";
import { Amount, columnDigits, type ColumnDigits, Unknown, Usd } from "@/components/ui/amount";
import { Badge, StatusBadge } from "@/components/ui/badge";
import { ChainMark, ChainName } from "@/components/ui/marks";
import { cn } from "@/components/ui/cn";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { type Column, RowLink } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { useTitleOptions } from "@/components/ui/use-locale";
import { isFinal } from "@/lib/core/status";
import { type ActivityRow, pathOfEntry, payoutTitleOf, wordsOf } from "./activity-entry";
import { sumByAsset } from "./operation-sums";

/**
 * The most lines of amounts in a row. With more assets, the last line shows the number of the
 * others, so that the row does not grow.
 */
const ASSETS_SHOWN = 2;

interface CellProps {
  readonly row: ActivityRow;
  readonly digits: ColumnDigits;
}

/**
 * Deposits of native coins have no recorded sender. For them the received amount is shown as sent.
 */
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

/** The received amount once the movement is final; before that, the minimum that will arrive. */
const Received = ({
  row: { status, received, minimum, kind },
  digits,
}: CellProps): ReactNode => {
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
    // Takes the width that the other columns leave. The minimum fits a short name between two
    // chains.
    className: "@min-[60rem]:w-full @min-[60rem]:max-w-0 @min-[60rem]:min-w-48",
    cell: (row) => <EntryWay row={row} />,
  },
  {
    id: "sent",
    header: "Sent",
    align: "right",
    bare: true,
    cell: (row) => <Sent row={row} digits={digits} />,
  },
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
    cell: (row) =>
      row.usd === null ? (
        <Unknown reason="No price was recorded then" />
      ) : (
        <Usd value={row.usd} plain />
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
  // The width of "11 minutes ago". The browser replaces the date by such a text, and no column must
  // move then.
  className: "whitespace-nowrap @min-[40rem]:min-w-32",
  cell: (row) => <Time value={row.createdAt} />,
};

/** The columns of the list. The column for memos and tags is shown only when a row has one. */
export const activityColumns = (
  rows: readonly ActivityRow[],
): readonly Column<ActivityRow>[] => {
  const parts = rows.flatMap(({ sent, received, minimum }) =>
    [...sent, received ?? [], minimum ?? []].flat(),
  );
  const columns = beforeNote(columnDigits(parts.map(({ token }) => token.symbol)));
  return rows.some(({ memo, tags }) => memo !== "" || tags.length > 0)
    ? [...columns, NOTE, TIME]
    : [...columns, TIME];
};

/**
 * Shows one chain by its name, and several by up to three icons. A narrow table also shows their
 * number. Chains are never truncated, but the name beside them may be.
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
      <span aria-hidden className="@min-[60rem]:hidden">
        {names.length} chains
      </span>
      <span className="sr-only">{names.join(", ")}</span>
    </span>
  );
};

const MARKS_MAX = 3;

const Marked = ({ mark, title, className, children }: MarkedProps): ReactNode => (
  <span
    className={cn("inline-flex max-w-36 min-w-0 items-center gap-1.5 align-middle", className)}
    title={title}
  >
    {mark}
    <span className="truncate">{children}</span>
  </span>
);

interface MarkedProps {
  readonly mark: ReactNode;
  readonly title?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

const MARK = "size-4 shrink-0 text-fg-3";

const Account = ({
  accountId,
  name,
}: {
  readonly accountId: string;
  readonly name: string | null;
}): ReactNode => (
  <Marked mark={<Landmark aria-hidden className={MARK} />} title={accountId}>
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
      return <Party address={party.address} className="max-w-36" />;
    case "account":
      return <Account {...party} />;
    case "private_wallet":
      return (
        <Marked
          mark={<ShieldCheck aria-hidden className="size-4 shrink-0 text-private" />}
          title={party.privacyWalletId}
        >
          Private wallet
        </Marked>
      );
    case "recipients":
      return (
        <Marked mark={<Users aria-hidden className={MARK} />}>{party.count} recipients</Marked>
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

/** Two lines in a narrow table; in a wide one, a single line with truncated names. */
const LOOKS =
  "line-clamp-2 text-fg-2 @min-[60rem]:flex @min-[60rem]:items-center @min-[60rem]:gap-x-1 @min-[60rem]:whitespace-nowrap";

/**
 * Hides a text visually when the table is wide. Its single line has no room for the names of two
 * chains and the receiver, so only the icon of the second chain is visible.
 */
const WIDE_HIDDEN = "@min-[60rem]:sr-only";

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
        {toChain === null ? null : (
          <span className="min-w-0 truncate">
            <ChainName chainId={toChain} />
          </span>
        )}
      </span>
    );
  return (
    <span className={LOOKS}>
      <Origin row={row} />
      {ARROW}
      {counterparty === null ? RESERVES : <Receiver party={counterparty} />}
      {toChain === null || staysOnChain ? null : (
        <span className="shrink-0">
          {" "}
          <span className={WIDE_HIDDEN}>on</span>{" "}
          <ChainName chainId={toChain} nameClassName={WIDE_HIDDEN} />
        </span>
      )}
    </span>
  );
};

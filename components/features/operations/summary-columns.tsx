"use client";

import { CalendarDays, Landmark, ShieldCheck, Tag, Users } from "lucide-react";
import type { ReactNode } from "react";
import { useNames } from "@/components/features/names/names";
import { AddressMark, shorten } from "@/components/ui/address";
import { Amount, columnTail, type ColumnTail, Unknown, Usd } from "@/components/ui/amount";
import { TokenMark } from "@/components/ui/marks";
import { type Column, RowLink, RowName } from "@/components/ui/table";
import { useLocale } from "@/components/ui/use-locale";
import type { summarizeActivity } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { countText } from "@/lib/core/amount-text";
import { listPath } from "./filter-model";

export const GROUPINGS = ["counterparty", "token", "tag", "month"] as const;
export type Grouping = (typeof GROUPINGS)[number];
type Group = ResponseOf<typeof summarizeActivity>["data"][number];

const HEADERS = {
  counterparty: "Counterparty",
  token: "Token",
  tag: "Tag",
  month: "Month",
} as const satisfies Record<Grouping, string>;

const ICON = "size-4 shrink-0 text-fg-3";

const PartyMark = ({ party }: { readonly party: string }): ReactNode => {
  if (party.startsWith("0x")) return <AddressMark value={party} />;
  if (party.startsWith("pw_"))
    return <ShieldCheck aria-hidden className="size-4 shrink-0 text-private" />;
  return party.startsWith("ga_") ? (
    <Landmark aria-hidden className={ICON} />
  ) : (
    <Users aria-hidden className={ICON} />
  );
};

const Mark = ({ by, group }: CellProps): ReactNode => {
  switch (by) {
    case "counterparty":
      return <PartyMark party={group.key ?? ""} />;
    case "token":
      return <TokenMark symbol={group.label} />;
    case "tag":
      return <Tag aria-hidden className={ICON} />;
    case "month":
      return <CalendarDays aria-hidden className={ICON} />;
  }
};

interface CellProps {
  readonly by: Grouping;
  readonly group: Group;
}

const Name = ({ by, group }: CellProps): ReactNode => {
  const { inList } = useNames();
  const { key, label, filter } = group;
  const isAddress = by === "counterparty" && label.startsWith("0x");
  const name = isAddress ? (inList(label) ?? shorten(label)) : label;
  const shown = key?.startsWith("pw_") === true ? "Private wallet" : name;
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <Mark by={by} group={group} />
      {filter === null ? (
        <RowName>{shown}</RowName>
      ) : (
        <RowLink href={listPath(filter)} title={label}>
          {shown}
        </RowLink>
      )}
    </span>
  );
};

const Count = ({ value }: { readonly value: number }): ReactNode => {
  const locale = useLocale();
  return <span className="num">{countText(value, locale)}</span>;
};

const Sum = ({ usd }: { readonly usd: string | null }): ReactNode =>
  usd === null ? <Unknown reason="No price was recorded then" /> : <Usd value={usd} plain />;

const amountColumn = (side: "in" | "out", header: string, tail: ColumnTail): Column<Group> => ({
  id: `${side}-amount`,
  header,
  align: "right",
  phone: "hidden",
  priority: "medium",
  cell: (group) => (
    <Amount value={group[side].amount ?? "0"} unit={group.label} plain column={tail} />
  ),
});

const tailOf = (groups: readonly Group[], side: "in" | "out"): ColumnTail =>
  columnTail(
    groups.map(({ label, ...group }) => ({ value: group[side].amount ?? "0", symbol: label })),
  );

const amountsOf = (by: Grouping, groups: readonly Group[]): readonly Column<Group>[] =>
  by === "token"
    ? [
        amountColumn("in", "Amount in", tailOf(groups, "in")),
        amountColumn("out", "Amount out", tailOf(groups, "out")),
      ]
    : [];

const UNPRICED: Column<Group> = {
  id: "unpriced",
  header: <span title="Not a part of the sums in US dollars">Without a price</span>,
  align: "right",
  cell: ({ unpriced }) => <Count value={unpriced} />,
};

/**
 * The columns of a summary. The column for movements without a price is left out when there are
 * none.
 */
export const summaryColumns = (
  by: Grouping,
  groups: readonly Group[],
): readonly Column<Group>[] => [
  {
    id: "name",
    header: HEADERS[by],
    phone: "title",
    cell: (group) => <Name by={by} group={group} />,
  },
  {
    id: "count",
    header: "Movements",
    align: "right",
    cell: ({ count }) => <Count value={count} />,
  },
  ...amountsOf(by, groups),
  { id: "in", header: "In", align: "right", cell: (group) => <Sum usd={group.in.usd} /> },
  { id: "out", header: "Out", align: "right", cell: (group) => <Sum usd={group.out.usd} /> },
  ...(groups.some(({ unpriced }) => unpriced > 0) ? [UNPRICED] : []),
];

import { apiPages, PAGE_ROWS } from "@/components/features/session/api-query";
import { listActivity } from "@/lib/api-client/calls.gen";
import type { ACTIVITY_KINDS } from "@/lib/contracts/activity";
import type { QueryInput } from "@/lib/contracts/contract";
import type { Status } from "@/lib/core/status";

export interface ActivityFilters {
  readonly status: readonly Status[] | null;
  readonly kind: readonly (typeof ACTIVITY_KINDS)[number][] | null;
  readonly chain: readonly number[] | null;
  readonly wallet: readonly string[] | null;
  /** First and last day, both included, such as `2026-11-21`, in the person's time zone. */
  readonly from: string | null;
  readonly to: string | null;
  readonly q: string | null;
  readonly tag: string | null;
  /** The filter `counterparty` of GET /activity: an address, an account, a private wallet … */
  readonly counterparty: string | null;
  /** Id of an asset. */
  readonly token: string | null;
}

export const NO_FILTERS: ActivityFilters = {
  status: null,
  kind: null,
  chain: null,
  wallet: null,
  from: null,
  to: null,
  q: null,
  tag: null,
  counterparty: null,
  token: null,
};

export const isFiltered = (filters: ActivityFilters): boolean =>
  Object.values(filters).some(
    (value: string | readonly unknown[] | null) => value !== null && value.length > 0,
  );

const listed = (values: readonly (string | number)[] | null): string =>
  (values ?? []).join(",");

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/**
 * Midnight at the start of a day, or `daysLater` days after it, in the person's time zone; null
 * when the text is no day.
 */
const midnight = (day: string, daysLater: number): Date | null => {
  const [, year, month, date] = DAY.exec(day) ?? [];
  const at = new Date(Number(year), Number(month) - 1, Number(date));
  // Days such as 31 February are rejected, because `Date` would read them as days in March.
  if (
    Number.isNaN(at.getTime()) ||
    at.getMonth() !== Number(month) - 1 ||
    at.getDate() !== Number(date)
  )
    return null;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
};

export const isDay = (text: string): boolean => midnight(text, 0) !== null;

interface Span {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/**
 * Start (included) and end (excluded) of a day in the reader's time zone, RFC 3339; undefined when
 * the text is no day.
 */
export const spanOf = (day: string | null): Span => ({
  from: midnight(day ?? "", 0)?.toISOString(),
  to: midnight(day ?? "", 1)?.toISOString(),
});

type ListQuery = Readonly<
  Record<
    Exclude<keyof NonNullable<QueryInput<typeof listActivity>>, "limit" | "cursor">,
    string | undefined
  >
>;

const unlessEmpty = (text: string): string | undefined => (text === "" ? undefined : text);

export const toListQuery = (filters: ActivityFilters): ListQuery => ({
  status: unlessEmpty(listed(filters.status)),
  kind: unlessEmpty(listed(filters.kind)),
  chainId: unlessEmpty(listed(filters.chain)),
  walletId: unlessEmpty(listed(filters.wallet)),
  from: spanOf(filters.from).from,
  to: spanOf(filters.to).to,
  q: unlessEmpty(filters.q?.trim() ?? ""),
  tag: unlessEmpty(filters.tag ?? ""),
  counterparty: unlessEmpty(filters.counterparty ?? ""),
  assetId: unlessEmpty(filters.token ?? ""),
});

const pad = (value: number): string => String(value).padStart(2, "0");
const dayOf = (at: Date): string =>
  `${String(at.getFullYear())}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;

const MS_BEFORE = 1;

/**
 * The path of the activity list with a filter that the API returned. The times of the filter are
 * starts of days. Its end is excluded, so the path names the day before the end.
 */
export const listPath = (filter: Readonly<Record<string, string>>): string => {
  const { chainId, walletId, assetId, from, to, ...same } = filter;
  const params = {
    ...same,
    chain: chainId,
    wallet: walletId,
    token: assetId,
    from: from === undefined ? undefined : dayOf(new Date(from)),
    to: to === undefined ? undefined : dayOf(new Date(Date.parse(to) - MS_BEFORE)),
  };
  const given = Object.entries(params).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `/activity?${new URLSearchParams(given).toString()}`;
};

const YEAR_MONTHS = 12;

/** The day on which the last twelve months begin, this month included. */
export const yearStart = (now: Date): string =>
  dayOf(new Date(now.getFullYear(), now.getMonth() - YEAR_MONTHS + 1, 1));

export const activityPages = (filters: ActivityFilters) =>
  apiPages(listActivity, { query: { limit: PAGE_ROWS, ...toListQuery(filters) } });

export interface DayRange {
  readonly from: string;
  readonly to: string;
}

const LAST_DAYS = { week: 6, month: 29 } as const;

/** Ranges of days in the person's time zone; both days are included. */
export const DATE_PRESETS: readonly {
  readonly label: string;
  readonly range: (now: Date) => DayRange;
}[] = [
  { label: "Today", range: (now) => ({ from: dayOf(now), to: dayOf(now) }) },
  { label: "Last 7 days", range: (now) => backTo(now, LAST_DAYS.week) },
  { label: "Last 30 days", range: (now) => backTo(now, LAST_DAYS.month) },
  { label: "This month", range: (now) => months(now, 0) },
  { label: "Last month", range: (now) => months(now, 1) },
  {
    label: "This year",
    range: (now) => ({
      from: `${String(now.getFullYear())}-01-01`,
      to: `${String(now.getFullYear())}-12-31`,
    }),
  },
];

const backTo = (now: Date, days: number): DayRange => ({
  from: dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days)),
  to: dayOf(now),
});

const months = (now: Date, back: number): DayRange => ({
  from: dayOf(new Date(now.getFullYear(), now.getMonth() - back, 1)),
  to: dayOf(new Date(now.getFullYear(), now.getMonth() - back + 1, 0)),
});

import type { QueryInput } from "@/lib/contracts/contract";
import type { ACTIVITY_KINDS, listActivity } from "@/lib/contracts/activity";
import type { Status } from "@/lib/core/status";

/** The filters of the list, as the page's address has them. */
export interface ActivityFilters {
  /** Any of these. */
  readonly status: readonly Status[] | null;
  readonly kind: readonly (typeof ACTIVITY_KINDS)[number][] | null;
  readonly chain: readonly number[] | null;
  /** Ids of wallets of the project. */
  readonly wallet: readonly string[] | null;
  /** First and last day, `2026-11-21`, both included, in the person's own time zone. */
  readonly from: string | null;
  readonly to: string | null;
  readonly q: string | null;
  readonly tag: string | null;
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
};

export const isFiltered = (filters: ActivityFilters): boolean =>
  Object.values(filters).some((value: string | readonly unknown[] | null) => value !== null && value.length > 0);

const listed = (values: readonly (string | number)[] | null): string => (values ?? []).join(",");

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Midnight at the start of a day, some days later, in the person's own time zone; null when the text is no day. */
const midnight = (day: string, daysLater: number): Date | null => {
  const [, year, month, date] = DAY.exec(day) ?? [];
  const at = new Date(Number(year), Number(month) - 1, Number(date));
  // 31 February would quietly be 3 March.
  if (Number.isNaN(at.getTime()) || at.getMonth() !== Number(month) - 1 || at.getDate() !== Number(date)) return null;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
};

export const isDay = (text: string): boolean => midnight(text, 0) !== null;

type ListQuery = Omit<NonNullable<QueryInput<typeof listActivity>>, "limit" | "cursor">;

/** The filters as the API takes them: moments instead of days, and nothing for what is not narrowed. */
export const toListQuery = (filters: ActivityFilters): ListQuery => {
  const from = filters.from === null ? null : midnight(filters.from, 0);
  const to = filters.to === null ? null : midnight(filters.to, 1);
  const q = filters.q?.trim() ?? "";
  return {
    ...(listed(filters.status) === "" ? {} : { status: listed(filters.status) }),
    ...(listed(filters.kind) === "" ? {} : { kind: listed(filters.kind) }),
    ...(listed(filters.chain) === "" ? {} : { chainId: listed(filters.chain) }),
    ...(listed(filters.wallet) === "" ? {} : { walletId: listed(filters.wallet) }),
    ...(from === null ? {} : { from: from.toISOString() }),
    ...(to === null ? {} : { to: to.toISOString() }),
    ...(q === "" ? {} : { q }),
    ...(filters.tag === null || filters.tag === "" ? {} : { tag: filters.tag }),
  };
};

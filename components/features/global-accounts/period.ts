export const PERIODS = ["this-month", "last-month", "custom"] as const;
export type PeriodKind = (typeof PERIODS)[number];

export interface CustomDays {
  /** First and last day, `2026-11-21`, both included; null where none was chosen. */
  readonly from: string | null;
  readonly to: string | null;
}

/** The period of `GET …/statement`: `from` is included, `to` is not. */
export type StatementPeriod = { readonly from?: string; readonly to?: string };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

const midnight = (day: string): Date | null => {
  if (!DAY.test(day)) return null;
  const at = new Date(`${day}T00:00:00.000Z`);
  // 31 February would quietly be 3 March.
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== day ? null : at;
};

const firstOfMonth = (now: Date, monthsBack: number): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsBack, 1)).toISOString();

/** Months and days begin at midnight UTC, so that a statement says the same wherever it is read. Null: the days make no period. */
export const periodOf = (kind: PeriodKind, days: CustomDays, now: Date): StatementPeriod | null => {
  if (kind === "this-month") return { from: firstOfMonth(now, 0) };
  if (kind === "last-month") return { from: firstOfMonth(now, 1), to: firstOfMonth(now, 0) };
  const from = days.from === null ? null : midnight(days.from);
  const last = days.to === null ? null : midnight(days.to);
  if (from === null || last === null || last < from) return null;
  return { from: from.toISOString(), to: new Date(last.getTime() + DAY_MS).toISOString() };
};

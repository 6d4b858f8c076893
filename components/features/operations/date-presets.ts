export interface DayRange {
  readonly from: string;
  readonly to: string;
}

const pad = (value: number): string => String(value).padStart(2, "0");
const dayOf = (at: Date): string => `${String(at.getFullYear())}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
const LAST_DAYS = { week: 6, month: 29 } as const;

/** Ranges of whole days in the person's own time zone; both days are included. */
export const DATE_PRESETS: readonly { readonly label: string; readonly range: (now: Date) => DayRange }[] = [
  { label: "Today", range: (now) => ({ from: dayOf(now), to: dayOf(now) }) },
  { label: "Last 7 days", range: (now) => backTo(now, LAST_DAYS.week) },
  { label: "Last 30 days", range: (now) => backTo(now, LAST_DAYS.month) },
  { label: "This month", range: (now) => months(now, 0) },
  { label: "Last month", range: (now) => months(now, 1) },
  {
    label: "This year",
    range: (now) => ({ from: `${String(now.getFullYear())}-01-01`, to: `${String(now.getFullYear())}-12-31` }),
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

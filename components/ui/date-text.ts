const DAY = { day: "numeric", month: "short" } as const;
const TIME = { hour: "2-digit", minute: "2-digit" } as const;
const FORMATS = {
  time: TIME,
  clock: { ...TIME, second: "2-digit" },
  day: DAY,
  date: { ...DAY, year: "numeric" },
  dateTime: { ...DAY, ...TIME, year: "numeric" },
  exact: { ...DAY, ...TIME, year: "numeric", second: "2-digit" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
/** The largest unit first; a distance is told in the first unit that it reaches. */
const UNITS = [
  ["year", 365 * DAY_S],
  ["month", 30 * DAY_S],
  ["day", DAY_S],
  ["hour", HOUR_S],
  ["minute", MINUTE_S],
  ["second", 1],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[];

/** A moment in the reader's locale and time zone. */
export const dateText = (at: Date | number, format: keyof typeof FORMATS): string =>
  new Intl.DateTimeFormat(undefined, FORMATS[format]).format(at);

/** "3 minutes ago" or "in 2 days". @param nowMs milliseconds since 1970 */
export const distanceText = (at: Date, nowMs: number, locale?: string): string => {
  const seconds = Math.round((at.getTime() - nowMs) / 1000);
  const [unit, size] = UNITS.find(([, unitSeconds]) => Math.abs(seconds) >= unitSeconds) ?? (["second", 1] as const);
  return new Intl.RelativeTimeFormat(locale, { numeric: "always" }).format(Math.round(seconds / size), unit);
};

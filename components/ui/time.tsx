"use client";

import { Clock } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { cn } from "./cn";

const TIME_TICK_MS = 10_000;
const JUST_NOW_MS = 10_000;

interface TimeProps {
  /** RFC 3339. */
  readonly value: string;
  /** Shows date and time instead of "3 minutes ago". */
  readonly absolute?: boolean;
  /** Shows the time of day with seconds, when the day is obvious. */
  readonly clock?: boolean;
  readonly className?: string;
}

/** A time. Its title has date and time in the reader's time zone, and in UTC. */
export const Time = ({
  value,
  absolute = false,
  clock = false,
  className,
}: TimeProps): ReactNode => {
  const now = useNow(TIME_TICK_MS);
  const date = new Date(value);
  const day = value.slice(0, 10);
  const local = now === null ? `${day} ${value.slice(11, 16)} UTC` : dateText(date, "exact");
  // About as wide as the relative time that replaces it in the browser.
  const distance = now === null ? day : sinceText(date, now);
  const textOf = (): string => {
    if (clock && now !== null) return dateText(date, "clock");
    return absolute ? local : distance;
  };
  return (
    <time dateTime={value} title={`${local} (${value})`} className={`num ${className ?? ""}`}>
      {textOf()}
    </time>
  );
};

const sinceText = (date: Date, now: number): string =>
  Math.abs(now - date.getTime()) < JUST_NOW_MS ? "just now" : distanceText(date, now);

const COUNTDOWN_TICK_MS = 250;
const URGENT_SECONDS = 10;

/** 125 → `2:05`. */
const clockText = (seconds: number): string =>
  `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, "0")}`;

interface CountdownProps {
  /** RFC 3339. */
  readonly until: string;
  /** Text before the time: `Expires in`. */
  readonly label: string;
  readonly expiredText?: string;
  /** Called once when the time is over. */
  readonly onExpire?: () => void;
  readonly className?: string;
}

export const Countdown = ({
  until,
  label,
  expiredText = "Expired",
  onExpire,
  className,
}: CountdownProps): ReactNode => {
  const now = useNow(COUNTDOWN_TICK_MS);
  const expired = useRef<string | null>(null);
  const seconds =
    now === null ? null : Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  useEffect(() => {
    if (seconds !== 0 || expired.current === until) return;
    expired.current = until;
    onExpire?.();
  }, [seconds, until, onExpire]);
  const left = seconds === null ? "–:––" : clockText(seconds);
  const urgent = seconds !== null && seconds <= URGENT_SECONDS;
  return (
    <span
      role="timer"
      className={cn(
        "num inline-flex items-center gap-1.5",
        urgent && "font-medium text-warning",
        className,
      )}
    >
      <Clock className="size-3.5 shrink-0" aria-hidden />
      {seconds === 0 ? expiredText : `${label} ${left}`}
    </span>
  );
};

/**
 * The current time in ms, updated every `everyMs`; null during hydration, so that server and
 * browser render the same.
 */
export const useNow = (everyMs: number): number | null => {
  const [now, setNow] = useState<number | null>(null);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
};

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
/**
 * The units of relative times. A time uses the first unit that it reaches, so the largest unit
 * comes first.
 */
const UNITS = [
  ["year", 365 * DAY_S],
  ["month", 30 * DAY_S],
  ["day", DAY_S],
  ["hour", HOUR_S],
  ["minute", MINUTE_S],
  ["second", 1],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[];

/**
 * The language of all pages. Dates use it too, because a month in the browser's language would be
 * in the middle of an English sentence.
 */
export const PAGE_LANGUAGE = "en";

/** The locale's choice between 12-hour and 24-hour times. */
export const hoursOf = (locale?: string): Pick<Intl.DateTimeFormatOptions, "hourCycle"> => {
  const { hourCycle } = new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions();
  return hourCycle === undefined ? {} : { hourCycle };
};

/**
 * Formats a time in English, in the reader's time zone, with the hours of the locale.
 * @param locale BCP 47; by default that of the browser
 */
export const dateText = (
  at: Date | number,
  format: keyof typeof FORMATS,
  locale?: string,
): string =>
  new Intl.DateTimeFormat(PAGE_LANGUAGE, { ...FORMATS[format], ...hoursOf(locale) }).format(at);

/**
 * "3 minutes ago" or "in 2 days", in English.
 * @param nowMs milliseconds since 1970
 */
export const distanceText = (at: Date, nowMs: number): string => {
  const seconds = Math.round((at.getTime() - nowMs) / 1000);
  const [unit, size] =
    UNITS.find(([, unitSeconds]) => Math.abs(seconds) >= unitSeconds) ??
    (["second", 1] as const);
  return new Intl.RelativeTimeFormat(PAGE_LANGUAGE, { numeric: "always" }).format(
    Math.round(seconds / size),
    unit,
  );
};

"use client";

import type { ReactNode } from "react";
import { dateText, distanceText } from "./date-text";
import { useNow } from "./use-now";

const TICK_MS = 10_000;
const JUST_NOW_MS = 10_000;

interface TimeProps {
  /** RFC 3339. */
  readonly value: string;
  /** Date and time instead of "3 minutes ago". */
  readonly absolute?: boolean;
  /** The time of day with seconds, where the day is known. */
  readonly clock?: boolean;
  readonly className?: string;
}

/** A moment; its title has it whole, in UTC and in the person's own zone. */
export const Time = ({ value, absolute = false, clock = false, className }: TimeProps): ReactNode => {
  const now = useNow(TICK_MS);
  const date = new Date(value);
  const exact = value.slice(0, 16).replace("T", " ") + " UTC";
  const local = now === null ? exact : dateText(date, "exact");
  const distance = now === null ? exact : sinceText(date, now);
  return (
    <time dateTime={value} title={`${local} (${value})`} className={`num ${className ?? ""}`}>
      {clock && now !== null ? dateText(date, "clock") : absolute ? local : distance}
    </time>
  );
};

const sinceText = (date: Date, now: number): string =>
  Math.abs(now - date.getTime()) < JUST_NOW_MS ? "just now" : distanceText(date, now);

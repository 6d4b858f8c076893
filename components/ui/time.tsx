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
  const day = value.slice(0, 10);
  const local = now === null ? `${day} ${value.slice(11, 16)} UTC` : dateText(date, "exact");
  // About as wide as the distance that the browser writes in its place.
  const distance = now === null ? day : sinceText(date, now);
  return (
    <time dateTime={value} title={`${local} (${value})`} className={`num ${className ?? ""}`}>
      {clock && now !== null ? dateText(date, "clock") : absolute ? local : distance}
    </time>
  );
};

const sinceText = (date: Date, now: number): string =>
  Math.abs(now - date.getTime()) < JUST_NOW_MS ? "just now" : distanceText(date, now);

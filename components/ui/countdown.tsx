"use client";

import { Clock } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import { cn } from "./cn";
import { useNow } from "./use-now";

const TICK_MS = 250;
const URGENT_SECONDS = 10;

/** 125 → `2:05`. */
export const clockText = (seconds: number): string =>
  `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, "0")}`;

interface CountdownProps {
  /** RFC 3339. */
  readonly until: string;
  /** Before the time: `Expires in`. */
  readonly label?: string;
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
  const now = useNow(TICK_MS);
  const told = useRef<string | null>(null);
  const seconds = now === null ? null : Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  useEffect(() => {
    if (seconds !== 0 || told.current === until) return;
    told.current = until;
    onExpire?.();
  }, [seconds, until, onExpire]);
  const urgent = seconds !== null && seconds <= URGENT_SECONDS;
  return (
    <span
      role="timer"
      className={cn("num inline-flex items-center gap-1.5", urgent && "font-medium text-warning", className)}
    >
      <Clock className="size-3.5 shrink-0" aria-hidden />
      {seconds === 0
        ? expiredText
        : `${label === undefined ? "" : `${label} `}${seconds === null ? "–:––" : clockText(seconds)}`}
    </span>
  );
};

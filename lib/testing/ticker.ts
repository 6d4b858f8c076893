import { createTicker, type Ticker } from "@/lib/core/ticker";

export interface ManualTicker {
  readonly ticker: Ticker;
  /** Timers that run now: one at most, whatever the number of subscriptions. */
  timers(): number;
  /** Lets time pass for the ticker alone, tick by tick. */
  pass(ms: number): void;
  /** Lets time pass without a tick, as when the process is frozen. */
  stall(ms: number): void;
}

const TICK_MS = 100;

/** A ticker whose time is moved by the test alone. */
export const manualTicker = (): ManualTicker => {
  let nowMs = 0;
  const timers = new Set<() => void>();
  const ticker = createTicker({
    tickMs: TICK_MS,
    monotonicMs: () => nowMs,
    startTimer: (tick) => {
      timers.add(tick);
      return () => timers.delete(tick);
    },
  });
  return {
    ticker,
    timers: () => timers.size,
    stall: (ms) => {
      nowMs += ms;
    },
    pass: (ms) => {
      for (let passed = 0; passed < ms; passed += TICK_MS) {
        nowMs += TICK_MS;
        for (const tick of [...timers]) tick();
      }
    },
  };
};

import { createTicker, type Ticker } from "@/lib/core/ticker";

export interface ManualTicker {
  readonly ticker: Ticker;
  /** Number of running timers: at most one, for any number of subscriptions. */
  timers(): number;
  /** Advances the ticker's time, tick by tick. */
  pass(ms: number): void;
  /** Advances the time without a tick, as when the process is frozen. */
  stall(ms: number): void;
}

const TICK_MS = 100;

/** A ticker whose time only the test advances. */
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

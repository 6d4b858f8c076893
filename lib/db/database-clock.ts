import type { Clock } from "@/lib/core/clock";

/** The database's time, which was read between two readings of this process's monotonic clock. */
export interface TimeSample {
  readonly databaseMs: number;
  readonly askedMs: number;
  readonly answeredMs: number;
}

export interface DatabaseClock extends Clock {
  measured(sample: TimeSample): void;
  /** How far this machine's clock is ahead of the database's, in milliseconds; null before the first sample. */
  aheadMs(): number | null;
}

export interface TimeSources {
  /** Milliseconds since some moment, never set back. */
  readonly monotonicMs: () => number;
  /** The machine's clock. */
  readonly wallMs: () => number;
}

const SYSTEM: TimeSources = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/**
 * The time by the database's clock, so that instances whose own clocks are wrong agree on what has expired. Between samples it goes on
 * with the process's monotonic clock. Before the first sample it is the machine's own time.
 */
export const createDatabaseClock = ({ monotonicMs, wallMs }: TimeSources = SYSTEM): DatabaseClock => {
  /** Database time less monotonic time. */
  let offsetMs: number | null = null;
  const databaseMs = (): number => (offsetMs === null ? wallMs() : monotonicMs() + offsetMs);
  return {
    now: () => new Date(Math.floor(databaseMs())),
    measured: (sample) => {
      const [low, high] = [sample.databaseMs - sample.answeredMs, sample.databaseMs - sample.askedMs];
      // The known offset lies within the uncertainty of this sample. Keeping it avoids small jumps of time.
      if (offsetMs === null || offsetMs < low || offsetMs > high) offsetMs = (low + high) / 2;
    },
    aheadMs: () => (offsetMs === null ? null : wallMs() - databaseMs()),
  };
};

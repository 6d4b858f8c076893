import { countsOf, settledOf, type Payout } from "./payout";

const WINDOW_MS = 20_000;

export interface Sample {
  readonly atMs: number;
  readonly settled: number;
}

export interface Pace {
  readonly rowsPerSecond: number;
  readonly secondsLeft: number;
}

/** Adds a sample, and drops samples outside the window over which the pace is measured. */
export const withSample = (samples: readonly Sample[], sample: Sample): readonly Sample[] => {
  const recent = samples.filter(({ atMs }) => atMs >= sample.atMs - WINDOW_MS);
  return recent.at(-1)?.settled === sample.settled && recent.length > 1
    ? recent
    : [...recent, sample];
};

/** The pace between the first and the last sample; null while no row was settled between them. */
export const paceOf = (samples: readonly Sample[], left: number): Pace | null => {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return null;
  const seconds = (last.atMs - first.atMs) / 1_000;
  const moved = last.settled - first.settled;
  if (seconds <= 0 || moved <= 0) return null;
  return { rowsPerSecond: moved / seconds, secondsLeft: Math.ceil((left * seconds) / moved) };
};

const MINUTE_S = 60;
const HOUR_S = 3_600;

/** `about 3 s left`, `about 2 min left`. */
export const timeLeftText = (seconds: number): string => {
  if (seconds < MINUTE_S) return `about ${String(seconds)} s left`;
  if (seconds < HOUR_S) return `about ${String(Math.ceil(seconds / MINUTE_S))} min left`;
  return `about ${String(Math.ceil(seconds / HOUR_S))} h left`;
};

export const leftOf = (payout: Payout): number => {
  const counts = countsOf(payout);
  return counts.total - settledOf(counts);
};

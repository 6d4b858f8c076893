import { countText } from "@/lib/core/amount-text";
import { awaitsApproval, countsOf, settledOf, type Payout, type RowCounts } from "./payout";

const WINDOW_MS = 20_000;

/** How many rows were settled at a moment. */
export interface Sample {
  readonly atMs: number;
  readonly settled: number;
}

export interface Pace {
  readonly rowsPerSecond: number;
  readonly secondsLeft: number;
}

/** Adds what is known now; samples that are too old to say anything about the pace are dropped. */
export const withSample = (samples: readonly Sample[], sample: Sample): readonly Sample[] => {
  const recent = samples.filter(({ atMs }) => atMs >= sample.atMs - WINDOW_MS);
  return recent.at(-1)?.settled === sample.settled && recent.length > 1 ? recent : [...recent, sample];
};

/** Null while nothing was seen to move. */
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

const rowsText = (count: number): string => `${countText(count)} ${count === 1 ? "row" : "rows"}`;

const PARTS = [
  ["failed", "failed"],
  ["doubt", "in doubt"],
  ["confirmed", "confirmed"],
  ["sent", "sent"],
  ["unknown", "being checked"],
  ["queued", "queued"],
  ["cancelled", "not sent"],
] as const satisfies readonly (readonly [keyof RowCounts, string])[];

/** `812 of 1,000 rows paid, 3 failed, 185 queued.` */
export const progressSentence = (payout: Payout): string => {
  const counts = countsOf(payout);
  const of = rowsText(counts.total);
  if (awaitsApproval(payout)) return `${of} to pay once this is approved.`;
  if (payout.status === "cancelled" && counts.paid === 0) return `Cancelled: none of ${of} was paid.`;
  if (payout.status === "expired") return `Not approved in time: none of ${of} was paid.`;
  const more = PARTS.filter(([state]) => counts[state] > 0).map(
    ([state, word]) => `${countText(counts[state])} ${word}`,
  );
  return `${[`${countText(counts.paid)} of ${of} paid`, ...more].join(", ")}.`;
};

export const leftOf = (payout: Payout): number => {
  const counts = countsOf(payout);
  return counts.total - settledOf(counts);
};

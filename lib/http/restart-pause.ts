interface PauseBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

const SPREAD = 0.2;

/**
 * How long to wait before the next attempt: doubled with each failure in a row up to a bound, and spread by a fifth either way, so that
 * several instances do not start at the same moment.
 * @param failures in a row before this attempt, from 0
 * @param random from 0 to 1
 */
export const restartPauseMs = (failures: number, { firstMs, maxMs }: PauseBounds, random: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30)) * (1 - SPREAD + 2 * SPREAD * random);

/**
 * How long a learnt smaller size is used. Afterwards the configured size is tried again, because
 * the node may have been replaced.
 */
const REMEMBERED_MS = 600_000;

interface LimitOptions {
  readonly max: number;
  readonly monotonicMs?: () => number;
}

/**
 * The maximum size of one request to a node: the configured size, or the smaller size that the
 * node accepted after it had rejected a larger request.
 */
export interface LearntLimit {
  current(): number;
  /**
   * Stores a smaller size, after a larger request was refused and one of this size was answered.
   */
  learn(size: number): void;
}

export const createLearntLimit = ({
  max,
  monotonicMs = () => performance.now(),
}: LimitOptions): LearntLimit => {
  let learnt: { readonly size: number; readonly untilMs: number } | null = null;
  const current = (): number => {
    if (learnt !== null && learnt.untilMs <= monotonicMs()) learnt = null;
    return learnt?.size ?? max;
  };
  return {
    current,
    learn: (size) => {
      if (size >= 1 && size < current())
        learnt = { size, untilMs: monotonicMs() + REMEMBERED_MS };
    },
  };
};

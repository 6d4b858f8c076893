/** Says when the sequencer makes its turns. */

/** The result of a turn. */
export interface Turn {
  /** There were events, so it took a transaction, even where another process was at them. */
  readonly found: boolean;
  /** There may be more to do at once. */
  readonly hasMore: boolean;
}

export interface TurnTimerOptions {
  /** Milliseconds until a turn that nothing announced. */
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

export interface TurnTimer {
  /** Events were committed: the next turn begins as soon as the rate allows it. */
  announce(): void;
  /** Makes no more turns, and waits for the one that is under way. */
  stop(): Promise<void>;
}

/** Announced events gather this long, and the request that stored them is answered first. */
const ANNOUNCED_MS = 5;
/**
 * On average the turns of a process begin this many times as far apart as one of them takes: payments wait for the same database, and a turn takes
 * longer while it is busy. Meanwhile events gather.
 */
const INTERVAL_FACTOR = 3;
const INTERVAL_MS_MIN = 20;
const INTERVAL_MS_MAX = 150;
/** So many turns may follow each other sooner: the few events of a payment need not wait. */
const BURST = 3;
const RETRY_MS = 500;

/** Makes turns one after another, the first at once and the others when they are announced or due, until it is stopped. */
export const startTurns = (turn: () => Promise<Turn>, { pollMs, onError }: TurnTimerOptions): TurnTimer => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | null = null;
  let isAnnounced = false;
  let isStopped = false;
  /** When the next turn begins, and before when no announced turn may begin; milliseconds of `performance.now()`. */
  let dueAt = 0;
  let allowedAt = -Infinity;

  const scheduleAt = (at: number): void => {
    clearTimeout(timer);
    if (isStopped) return;
    dueAt = at;
    timer = setTimeout(run, Math.max(0, at - performance.now()));
  };

  const announcedAt = (): number => Math.max(performance.now() + ANNOUNCED_MS, allowedAt);

  const afterTurn = ({ found, hasMore }: Turn, tookMs: number): void => {
    const now = performance.now();
    const intervalMs = Math.min(INTERVAL_MS_MAX, Math.max(INTERVAL_MS_MIN, INTERVAL_FACTOR * tookMs));
    // Turns that followed each other at once, because there was more to do, do not delay the next one further.
    if (found) allowedAt = Math.min(now, Math.max(allowedAt, now - (BURST - 1) * intervalMs)) + intervalMs;
    if (hasMore) scheduleAt(now);
    else scheduleAt(isAnnounced ? announcedAt() : Math.max(now + pollMs, allowedAt));
  };

  const afterError = (error: unknown): void => {
    onError(error);
    allowedAt = performance.now() + RETRY_MS;
    scheduleAt(allowedAt);
  };

  const run = (): void => {
    isAnnounced = false;
    const began = performance.now();
    running = turn()
      .then((made) => afterTurn(made, performance.now() - began), afterError)
      .finally(() => {
        running = null;
      });
  };

  run();
  return {
    announce: () => {
      // The turn that is under way may have looked before the commit.
      if (running !== null) isAnnounced = true;
      else if (announcedAt() < dueAt) scheduleAt(announcedAt());
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};

import type { Sql } from "@/lib/db/sql";
import { hasOutbox, sequenceOutbox, takeSequencerLock, type SequencedRange } from "./repository";

export interface SequencerDeps {
  /** Statements outside of transactions, and transactions, on connections that requests do not wait for. */
  readonly sql: Sql;
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Called in the transaction that gives the numbers, so that no numbered event goes undelivered. */
  fanOut(sql: Sql, ranges: readonly SequencedRange[]): Promise<void>;
  readonly log: { warn(fields: object, message: string): void };
  readonly options?: { readonly pollMs?: number };
  /** Called after numbers were given, with the numbers. */
  onSequenced?(ranges: readonly SequencedRange[]): void;
}

/** Events are collected for this long, so that each turn numbers many. */
const POLL_MS = 50;
/** While a turn numbers this many, events gather three times as long: each turn costs a transaction, which payments wait for too. */
const BUSY = 50;
const BUSY_FACTOR = 3;
const RETRY_MS = 500;
const PROJECTS_MAX = 100;
const PER_PROJECT = 500;

/**
 * Gives each project's committed events the numbers 1, 2, 3 … without a gap. Numbers are given after the commit, by one instance at a
 * time: writers of events wait for no counter, and events that were rolled back take no number. Any instance may die at any point; the
 * next one goes on where the last commit left off.
 */
export const createSequencer = (deps: SequencerDeps) => {
  const { sql, options: { pollMs = POLL_MS } = {} } = deps;
  let afterProjectId = "";
  let isBusy = false;

  /** @returns whether there may be more to do at once */
  const turn = async (): Promise<boolean> => {
    if (!(await hasOutbox(sql))) {
      isBusy = false;
      return false;
    }
    const ranges = await deps.transaction(async (tx) => {
      if (!(await takeSequencerLock(tx))) return null;
      const given = await sequenceOutbox(tx, { afterProjectId, projectsMax: PROJECTS_MAX, perProject: PER_PROJECT });
      if (given.length > 0) await deps.fanOut(tx, given);
      return given;
    });
    // Another instance is at it.
    if (ranges === null) return false;
    const wasAtStart = afterProjectId === "";
    const isFull = ranges.length === PROJECTS_MAX;
    afterProjectId = isFull ? (ranges.at(-1)?.projectId ?? "") : "";
    if (ranges.length > 0) deps.onSequenced?.(ranges);
    isBusy = ranges.reduce((count, { from, to }) => count + to - from + 1, 0) >= BUSY;
    return isFull || !wasAtStart || ranges.some(({ from, to }) => to - from + 1 >= PER_PROJECT);
  };

  /** Until nothing waits, or another instance is at it. */
  const drain = async (): Promise<void> => {
    while (await turn());
  };

  const start = (): { stop(): Promise<void> } => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stopped = false;
    let running = Promise.resolve();
    const again = (afterMs: number): void => {
      if (!stopped) timer = setTimeout(loop, afterMs);
    };
    const loop = (): void => {
      running = turn().then(
        (more) => again(more ? 0 : isBusy ? pollMs * BUSY_FACTOR : pollMs),
        (error: unknown) => {
          deps.log.warn({ err: error }, "events could not be numbered; trying again");
          again(RETRY_MS);
        },
      );
    };
    loop();
    return {
      stop: async () => {
        stopped = true;
        clearTimeout(timer);
        await running;
      },
    };
  };

  return { drain, start };
};

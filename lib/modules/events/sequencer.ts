import { findDistributed } from "@/lib/db/layout";
import { createProjectTurns, type Numbered, type ProjectTurnsDeps } from "./project-turns";
import { hasOutbox, sequenceOutbox, takeSequencerLock } from "./repository";

export interface SequencerDeps extends ProjectTurnsDeps {
  readonly options?: { readonly pollMs?: number };
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
 * next one goes on where the last commit left off. On a cluster each project has a transaction, and a lock, of its own.
 */
export const createSequencer = (deps: SequencerDeps) => {
  const { sql, options: { pollMs = POLL_MS } = {} } = deps;
  const projectTurns = createProjectTurns(deps);
  let afterProjectId = "";
  let isBusy = false;

  /** All projects of the turn in one transaction. @returns null where another instance is at it */
  const numberTogether = async (): Promise<Numbered | null> => {
    const ranges = await deps.transaction(async (tx) => {
      if (!(await takeSequencerLock(tx))) return null;
      const given = await sequenceOutbox(tx, { afterProjectId, projectsMax: PROJECTS_MAX, perProject: PER_PROJECT });
      if (given.length > 0) await deps.fanOut(tx, given);
      return given;
    });
    if (ranges === null) return null;
    if (ranges.length > 0) deps.onSequenced?.(ranges);
    const isFull = ranges.length === PROJECTS_MAX;
    return { ranges, fullUpTo: isFull ? (ranges.at(-1)?.projectId ?? null) : null };
  };

  const numberEach = (): Promise<Numbered> =>
    projectTurns.make({ afterProjectId, projectsMax: PROJECTS_MAX, perProject: PER_PROJECT });

  /** @returns whether there may be more to do at once */
  const turn = async (): Promise<boolean> => {
    if (!(await hasOutbox(sql))) {
      isBusy = false;
      return false;
    }
    const numbered = (await findDistributed(sql)) ? await numberEach() : await numberTogether();
    if (numbered === null) return false;
    const { ranges, fullUpTo } = numbered;
    const wasAtStart = afterProjectId === "";
    afterProjectId = fullUpTo ?? "";
    isBusy = ranges.reduce((count, { from, to }) => count + to - from + 1, 0) >= BUSY;
    return fullUpTo !== null || !wasAtStart || ranges.some(({ from, to }) => to - from + 1 >= PER_PROJECT);
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

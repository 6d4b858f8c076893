import { findDistributed } from "@/lib/db/layout";
import type { Listener } from "@/lib/db/listener";
import { createProjectTurns, type Numbered, type ProjectTurnsDeps } from "./project-turns";
import { hasOutbox, OUTBOX_CHANNEL, sequenceOutbox, takeSequencerLock } from "./repository";
import { startTurns, type Turn } from "./turn-timer";

export interface SequencerDeps extends ProjectTurnsDeps {
  /** Announces the events that this process commits. Those of other processes are found by polling. */
  readonly listener: Pick<Listener, "on">;
  readonly options?: { readonly pollMs?: number };
}

const POLL_MS = 50;
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

  /** All projects of the turn in one transaction. @returns null where another instance is at it */
  const numberTogether = async (): Promise<Numbered | null> => {
    const given = await deps.transaction(async (tx) => {
      if (!(await takeSequencerLock(tx))) return null;
      const page = { afterProjectId, projectsMax: PROJECTS_MAX, perProject: PER_PROJECT };
      const ranges = await sequenceOutbox(tx, page);
      return { ranges, deliveries: ranges.length === 0 ? 0 : await deps.fanOut(tx, ranges) };
    });
    if (given === null) return null;
    const { ranges, deliveries } = given;
    if (ranges.length > 0) deps.onSequenced?.(ranges, deliveries);
    const isFull = ranges.length === PROJECTS_MAX;
    return { ranges, fullUpTo: isFull ? (ranges.at(-1)?.projectId ?? null) : null };
  };

  const numberEach = (): Promise<Numbered> =>
    projectTurns.make({ afterProjectId, projectsMax: PROJECTS_MAX, perProject: PER_PROJECT });

  const turn = async (): Promise<Turn> => {
    if (!(await hasOutbox(sql))) return { found: false, hasMore: false };
    const made = (await findDistributed(sql)) ? await numberEach() : await numberTogether();
    if (made === null) return { found: true, hasMore: false };
    const { ranges, fullUpTo } = made;
    const wasAtStart = afterProjectId === "";
    afterProjectId = fullUpTo ?? "";
    const hasMore = fullUpTo !== null || !wasAtStart || ranges.some(({ from, to }) => to - from + 1 >= PER_PROJECT);
    return { found: true, hasMore };
  };

  /** Until nothing waits, or another instance is at it. */
  const drain = async (): Promise<void> => {
    while ((await turn()).hasMore);
  };

  const start = (): { stop(): Promise<void> } => {
    const turns = startTurns(turn, {
      pollMs,
      onError: (error) => deps.log.warn({ err: error }, "events could not be numbered; trying again"),
    });
    const unsubscribe = deps.listener.on(OUTBOX_CHANNEL, turns.announce);
    return {
      stop: async () => {
        unsubscribe();
        await turns.stop();
      },
    };
  };

  return { drain, start };
};

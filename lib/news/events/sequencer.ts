import { outageOf } from "@/lib/core/outage";
import { findDistributed, type Sql } from "@/lib/platform/db/sql";
import {
  hasOutbox,
  OUTBOX_CHANNEL,
  sequenceOutbox,
  sequenceProject,
  takeSequencerLock,
  type WaitingProject,
  waitingProjects,
} from "./repository";
import type { SequencedRange } from "./rows";
import type { Listener } from "@/lib/platform/db/listener";

/** Decides when the sequencer's turns run. */

export interface Turn {
  /**
   * True when there were events, so that the turn used a transaction, even if another process was
   * numbering them.
   */
  readonly found: boolean;
  /** True when more events may wait for a number, so that the next turn begins immediately. */
  readonly hasMore: boolean;
}

interface TurnTimerOptions {
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

export interface TurnTimer {
  /** Called after events were committed: the next turn begins as soon as the rate allows it. */
  announce(): void;
  /** Starts no more turns, and waits for the current one. */
  stop(): Promise<void>;
}

/**
 * Milliseconds for which announced events are collected, so that the request that stored them is
 * answered first.
 */
const ANNOUNCED_MS = 5;
/**
 * The average pause after a turn, as a multiple of the turn's duration. A busy database makes turns
 * slower and therefore rarer, which leaves capacity to payments. Events that arrive during the pause
 * share the next turn.
 */
const INTERVAL_FACTOR = 3;
const INTERVAL_MS_MIN = 20;
const INTERVAL_MS_MAX = 150;
/**
 * Number of turns that may run without the pause between turns, so that the few events of a payment
 * need not wait.
 */
const BURST = 3;
const RETRY_MS = 500;

/**
 * Runs turns one after another until stopped: the first at once, the others when announced or due.
 */
export const startTurns = (
  turn: () => Promise<Turn>,
  { pollMs, onError }: TurnTimerOptions,
): TurnTimer => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | null = null;
  let isAnnounced = false;
  let isStopped = false;
  /** When the next turn begins, in milliseconds of `performance.now()`. */
  let dueAt = 0;
  /** The earliest time of an announced turn, in milliseconds of `performance.now()`. */
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
    const intervalMs = Math.min(
      INTERVAL_MS_MAX,
      Math.max(INTERVAL_MS_MIN, INTERVAL_FACTOR * tookMs),
    );
    // A series of turns that had more to do does not delay the next turn further.
    if (found)
      allowedAt =
        Math.min(now, Math.max(allowedAt, now - (BURST - 1) * intervalMs)) + intervalMs;
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
      // The current turn may have read before the commit.
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

// The sequencer's turns on a cluster: one transaction per project, so that an unreachable node
// delays only the events of its projects.

interface ProjectTurnsDeps {
  /** Statements and transactions on connections that requests do not use. */
  readonly sql: Sql;
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Called in the transaction that assigns the numbers, so that each numbered event is delivered.
   * @returns the number of deliveries
   */
  fanOut(sql: Sql, ranges: readonly SequencedRange[]): Promise<number>;
  readonly log: { warn(fields: object, message: string): void };
  /** Called after the commit of the numbers, with the number of deliveries from `fanOut`. */
  onSequenced?(ranges: readonly SequencedRange[], deliveries: number): void;
}

interface Numbered {
  readonly ranges: readonly SequencedRange[];
  /**
   * The last project in a turn with the maximum number of events; null when no project has more.
   */
  readonly fullUpTo: string | null;
}

/**
 * Milliseconds for which a node that does not answer is skipped. The time doubles with each further
 * failure, up to `HELD_MS_MAX`.
 */
const HELD_MS = 1_000;
const HELD_MS_MAX = 16_000;

interface Held {
  readonly forMs: number;
  readonly untilMs: number;
}

/**
 * Creates the turns for a cluster. Any number of instances may run turns at the same time; each
 * handles the projects whose lock it gets.
 * @param now milliseconds of a monotonic clock
 */
const createProjectTurns = (
  deps: ProjectTurnsDeps,
  now: () => number = () => performance.now(),
) => {
  const held = new Map<number, Held>();

  const hold = (node: number, error: unknown): void => {
    const forMs = Math.min((held.get(node)?.forMs ?? HELD_MS / 2) * 2, HELD_MS_MAX);
    held.set(node, { forMs, untilMs: now() + forMs });
    deps.log.warn(
      { err: error, node },
      "the events of a node's projects could not be numbered; trying again",
    );
  };

  const mayAsk = ({ node }: WaitingProject): boolean => now() >= (held.get(node)?.untilMs ?? 0);

  const number = (
    projectId: string,
    limit: number,
  ): Promise<{ readonly range: SequencedRange; readonly deliveries: number } | null> =>
    deps.transaction(async (tx) => {
      const range = await sequenceProject(tx, { projectId, limit });
      return range === null ? null : { range, deliveries: await deps.fanOut(tx, [range]) };
    });

  return {
    /**
     * Numbers at most `perProject` events of each of the next projects.
     * @throws when a statement fails for a reason other than a database outage
     */
    make: async (page: {
      readonly afterProjectId: string;
      readonly projectsMax: number;
      readonly perProject: number;
    }): Promise<Numbered> => {
      const projects = await waitingProjects(deps.sql, page);
      const ranges: SequencedRange[] = [];
      for (const project of projects) {
        if (!mayAsk(project)) continue;
        try {
          const given = await number(project.projectId, page.perProject);
          held.delete(project.node);
          if (given === null) continue;
          ranges.push(given.range);
          // Called before the next project is numbered, because that project may wait for a node
          // that does not answer.
          deps.onSequenced?.([given.range], given.deliveries);
        } catch (error) {
          if (outageOf(error) !== "database") throw error;
          hold(project.node, error);
        }
      }
      const isFull = projects.length === page.projectsMax;
      return { ranges, fullUpTo: isFull ? (projects.at(-1)?.projectId ?? null) : null };
    },
  };
};

interface SequencerDeps extends ProjectTurnsDeps {
  /** Announces this process's committed events. Events of other processes are found by polling. */
  readonly listener: Pick<Listener, "on">;
  readonly options?: { readonly pollMs?: number };
}

const POLL_MS = 50;
const PROJECTS_MAX = 100;
const PER_PROJECT = 500;

/**
 * Numbers each project's committed events 1, 2, 3 … without a gap. Numbers are assigned after the
 * commit, by one instance at a time, so writers of events wait for no counter, and events that were
 * rolled back get no number. Any instance may crash at any point; the next one continues after the
 * last commit. On a cluster each project has a separate transaction and lock.
 */
export const createSequencer = (deps: SequencerDeps) => {
  const { sql, options: { pollMs = POLL_MS } = {} } = deps;
  const projectTurns = createProjectTurns(deps);
  let afterProjectId = "";

  /**
   * Numbers all projects of the turn in one transaction.
   * @returns null when another instance is numbering
   */
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
    const hasMore =
      fullUpTo !== null ||
      !wasAtStart ||
      ranges.some(({ from, to }) => to - from + 1 >= PER_PROJECT);
    return { found: true, hasMore };
  };

  /** Repeats until no event waits, or another instance is numbering. */
  const drain = async (): Promise<void> => {
    while ((await turn()).hasMore);
  };

  const start = (): { stop(): Promise<void> } => {
    const turns = startTurns(turn, {
      pollMs,
      onError: (error) =>
        deps.log.warn({ err: error }, "events could not be numbered; trying again"),
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

/** The sequencer's turns on a cluster: a transaction for each project, so that a lost node delays only its projects' events. */
import { outageOf } from "@/lib/core/outage";
import type { Sql } from "@/lib/db/sql";
import { sequenceProject, waitingProjects, type WaitingProject } from "./project-repository";
import type { SequencedRange } from "./repository";

export interface ProjectTurnsDeps {
  /** Statements outside of transactions, and transactions, on connections that requests do not wait for. */
  readonly sql: Sql;
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Called in the transaction that gives the numbers, so that no numbered event goes undelivered. @returns the number of deliveries */
  fanOut(sql: Sql, ranges: readonly SequencedRange[]): Promise<number>;
  readonly log: { warn(fields: object, message: string): void };
  /** Called when numbers were given and are committed, with the deliveries that `fanOut` made of their events. */
  onSequenced?(ranges: readonly SequencedRange[], deliveries: number): void;
}

/** Events that one turn of the sequencer numbered. */
export interface Numbered {
  readonly ranges: readonly SequencedRange[];
  /** The last project of a turn that had as many as one takes; null where no more wait behind it. */
  readonly fullUpTo: string | null;
}

/** A node that did not answer is left out for this long, and twice as long after each further time. */
const HELD_MS = 1_000;
const HELD_MS_MAX = 16_000;

interface Held {
  readonly forMs: number;
  readonly untilMs: number;
}

/**
 * Any number of instances may make turns at the same time: each takes the projects whose lock it gets.
 * @param now in milliseconds, of a clock that never goes back
 */
export const createProjectTurns = (deps: ProjectTurnsDeps, now: () => number = () => performance.now()) => {
  const held = new Map<number, Held>();

  const hold = (node: number, error: unknown): void => {
    const forMs = Math.min((held.get(node)?.forMs ?? HELD_MS / 2) * 2, HELD_MS_MAX);
    held.set(node, { forMs, untilMs: now() + forMs });
    deps.log.warn({ err: error, node }, "the events of a node's projects could not be numbered; trying again");
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
     * @throws when a statement fails for another reason than an outage of the database
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
          // At once, because a later project may wait for a node that does not answer.
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

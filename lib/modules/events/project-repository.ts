/** Numbers the events of one project on a cluster, where the outbox lies on the coordinator and the numbered events with their project. */
import { nodeOfProject } from "@/lib/db/layout";
import type { Sql, SqlReader } from "@/lib/db/sql";
import { OUTBOX_PROJECTS, type OutboxRow, type SequencedRange } from "./repository";

/** A project with events that wait for their numbers. */
export interface WaitingProject {
  readonly projectId: string;
  /** The group of the node that has the project's rows. */
  readonly node: number;
}

const WAITING = `
  WITH RECURSIVE ${OUTBOX_PROJECTS}
  SELECT p.project_id AS "projectId", ${nodeOfProject("p.project_id")} AS node
  FROM project p WHERE p.project_id IS NOT NULL ORDER BY p.project_id`;

/** Projects with events without a number, from the one after `afterProjectId` on. */
export const waitingProjects = (
  sql: SqlReader,
  page: { readonly afterProjectId: string; readonly projectsMax: number },
): Promise<readonly WaitingProject[]> => sql.query<WaitingProject>(WAITING, [page.afterProjectId, page.projectsMax]);

/** The first key of an advisory lock; the second one is made of the project. */
const LOCK = 0x43_57_45_56;
/** A node that does not answer holds the numbering of other projects up for this long. */
const STATEMENT_MS = 5_000;

const BEGIN = `
  SELECT set_config('statement_timeout', $3, true), pg_try_advisory_xact_lock($1::int, hashtext($2)) AS taken`;

const TAKE = `
  WITH due AS (
    SELECT position FROM event_outbox WHERE project_id = $1 ORDER BY position LIMIT $2::int
  ), taken AS (
    DELETE FROM event_outbox o USING due d WHERE o.project_id = $1 AND o.position = d.position RETURNING o.*
  )
  SELECT id, type, object_id AS "objectId", payload::text AS payload, private, created_at AS "createdAt" FROM taken ORDER BY position`;

// Waits for a transaction that its node had prepared when it was lost, so no number is given twice.
const COUNT = `
  INSERT INTO event_counter AS c (project_id, last_sequence) VALUES ($1, $2::bigint)
  ON CONFLICT (project_id) DO UPDATE SET last_sequence = c.last_sequence + EXCLUDED.last_sequence
  RETURNING last_sequence::float8 AS last`;

const LAST_OF_OBJECTS = `
  SELECT o.object_id AS "objectId", coalesce((
    SELECT max(e.object_sequence) FROM event e WHERE e.project_id = $1 AND e.object_id = o.object_id
  ), 0)::float8 AS last
  FROM unnest($2::text[]) AS o (object_id)`;

const STORE = `
  INSERT INTO event (project_id, sequence, id, type, object_id, object_sequence, payload, private, created_at)
  SELECT $1, sequence, id, type, object_id, object_sequence, payload::json, private, created_at
  FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::boolean[], $9::timestamptz[])
    AS e (sequence, id, type, object_id, object_sequence, payload, private, created_at)`;

type Taken = Omit<OutboxRow, "projectId">;

/** The number of each event among those of its object. */
const objectNumbers = async (sql: Sql, projectId: string, taken: readonly Taken[]): Promise<readonly number[]> => {
  const objectIds = [...new Set(taken.map(({ objectId }) => objectId))];
  const rows = await sql.query<{ objectId: string; last: number }>(LAST_OF_OBJECTS, [projectId, objectIds]);
  const last = new Map(rows.map((row) => [row.objectId, row.last]));
  return taken.map(({ objectId }) => {
    const number = (last.get(objectId) ?? 0) + 1;
    last.set(objectId, number);
    return number;
  });
};

/**
 * Takes committed events of one project from the outbox, gives them their numbers, and stores them in `event`. The caller's transaction, `sql`,
 * has all of it or nothing. Only one node is asked, the one with the project's rows.
 * @returns the numbers; null when another instance numbers this project, or it has no more events
 */
export const sequenceProject = async (
  sql: Sql,
  { projectId, limit }: { readonly projectId: string; readonly limit: number },
): Promise<SequencedRange | null> => {
  const [begun] = await sql.query<{ taken: boolean }>(BEGIN, [LOCK, projectId, String(STATEMENT_MS)]);
  if (begun?.taken !== true) return null;
  const taken = await sql.query<Taken>(TAKE, [projectId, limit]);
  if (taken.length === 0) return null;
  const [counted] = await sql.query<{ last: number }>(COUNT, [projectId, taken.length]);
  if (counted === undefined) throw new Error("The counter of a project's events was not returned.");
  const from = counted.last - taken.length + 1;
  const numbers = await objectNumbers(sql, projectId, taken);
  await sql.change(STORE, [
    projectId,
    taken.map((_, index) => from + index),
    taken.map(({ id }) => id),
    taken.map(({ type }) => type),
    taken.map(({ objectId }) => objectId),
    numbers,
    taken.map(({ payload }) => payload),
    taken.map((row) => row.private),
    taken.map(({ createdAt }) => createdAt.toISOString()),
  ]);
  return { projectId, from, to: counted.last };
};

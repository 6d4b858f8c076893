import { createBatcher } from "@/lib/core/batch";
import { currentTraceparent } from "@/lib/core/tracing";
import type { Database, Tx } from "@/lib/platform/db/client";
import {
  announce,
  keptSqlOn,
  type Sql,
  sqlOf,
  sqlOn,
  type SqlReader,
} from "@/lib/platform/db/sql";
import { sql, type Statement } from "@/lib/platform/db/statement";
import { int, table, text } from "@/lib/platform/db/table";
import { type ClaimedJob, claimedJobs, type ParkedJob, parkedJobs } from "./rows";

export type { ClaimedJob, ParkedJob } from "./rows";

export const JOB_CHANNEL = "job";

/** Announces to the workers, when the transaction commits, that a job was stored. */
export const announceJob = (transaction: object, queue: string): void => {
  announce(transaction, { channel: JOB_CHANNEL, payload: queue });
};

interface NewJob {
  readonly id: string;
  readonly queue: string;
  readonly runAt: Date;
}

/**
 * Stores a job in the transaction that needs it, and announces it.
 * @param owner the worker that has claimed the job already; then nothing is announced
 */
export const insertJobOn = async (
  db: Sql,
  { id, queue, runAt }: NewJob,
  owner: JobOwner | null = null,
): Promise<void> => {
  if (owner === null) announceJob(db, queue);
  const workerId = owner?.workerId ?? null;
  const leaseMs = owner?.leaseMs ?? null;
  await db.change(sql`
    INSERT INTO job (id, queue, run_at, traceparent, locked_by, locked_until, attempts)
    VALUES (
      ${id},
      ${queue},
      ${runAt}::timestamptz,
      ${currentTraceparent()},
      ${workerId},
      now() + ${leaseMs}::int * interval '1 millisecond',
      CASE WHEN ${workerId}::text IS NULL THEN 0 ELSE 1 END
    )`);
};

/** Like `insertJobOn`, for Prisma transactions. */
export const insertJob = (tx: Tx, job: NewJob): Promise<void> => insertJobOn(sqlOf(tx), job);

/**
 * Like `insertJob`, unless the job exists: then it is locked until the transaction ends, and keeps
 * its time.
 */
export const insertJobOnce = async (tx: Tx, { id, queue, runAt }: NewJob): Promise<void> => {
  await sqlOf(tx).change(sql`
    INSERT INTO job (id, queue, run_at, traceparent)
    VALUES (${id}, ${queue}, ${runAt}::timestamptz, ${currentTraceparent()})
    ON CONFLICT (id) DO UPDATE SET queue = EXCLUDED.queue`);
};

/**
 * Locks the job until the transaction ends, so that other transactions that store or need the job
 * wait.
 */
export const lockJob = async (tx: Tx, id: string): Promise<void> => {
  await sqlOf(tx).query(sql`SELECT 1 FROM job WHERE id = ${id} FOR UPDATE`);
};

/** Removes a job that this transaction has locked. */
export const endJob = async (tx: Tx, id: string): Promise<void> => {
  await tx.job.deleteMany({ where: { id } });
};

/**
 * Removes finished jobs. Call it as the last step of the transaction that ends their work:
 * statements of workers lock several jobs, and would wait for this transaction.
 */
export const endJobs = async (db: Sql, ids: readonly string[]): Promise<void> => {
  await db.change(sql`
    DELETE FROM job USING (
      SELECT id FROM job WHERE id = ANY(${ids}::text[]) ORDER BY id COLLATE "C" FOR UPDATE
    ) AS locked
    WHERE job.id = locked.id`);
};

/**
 * The worker that has claimed a new job when it is stored, and runs it without waiting for an
 * announcement.
 */
export interface JobOwner {
  readonly workerId: string;
  readonly leaseMs: number;
}

interface FailedTurn {
  readonly workerId: string;
  readonly id: string;
  readonly error: string;
  readonly againInMs: number;
  /** The job's consecutive failures, this one included. */
  readonly failures: number;
  /** True when no worker claims the job until a person resumes it. */
  readonly isParked: boolean;
}

/**
 * Maximum number of jobs in one batch. Jobs that end at the same time are deleted in one
 * statement.
 */
const ENDS_MAX = 200;

interface EndedJob {
  readonly workerId: string;
  readonly id: string;
}

const jobIds = table({ id: text });
const counts = table({ count: int });

// Statements that lock several jobs lock them in the order of their ids, so that they cannot
// deadlock.

const finishJobs = async (db: Sql, ended: readonly EndedJob[]): Promise<void> => {
  await db.change(sql`
    WITH locked AS MATERIALIZED (
      SELECT j.id
      FROM job j
      JOIN unnest(
        ${ended.map(({ id }) => id)}::text[],
        ${ended.map(({ workerId }) => workerId)}::text[]
      ) AS ended (id, worker_id)
        ON j.id = ended.id AND j.locked_by = ended.worker_id
      ORDER BY j.id COLLATE "C"
      FOR UPDATE OF j
    )
    DELETE FROM job USING locked WHERE job.id = locked.id`);
};

/**
 * Leases of jobs. Their times come from Postgres, so the clocks of instances need not agree. A job
 * belongs to the worker that holds its lease. `FOR UPDATE SKIP LOCKED` lets several instances claim
 * jobs at the same time without waiting for each other.
 */
export const createJobsRepository = ({ pool }: Pick<Database, "pool">) => {
  const kept = keptSqlOn(pool);
  const ends = createBatcher({
    run: async (ended: readonly EndedJob[]) => {
      await finishJobs(kept, ended);
      return ended.map(() => true as const);
    },
    batchWeightMax: ENDS_MAX,
    lanes: 2,
  });
  return {
    ...createLeases(sqlOn(pool)),
    finish: async (ended: EndedJob): Promise<void> => {
      await ends.submit(ended);
    },
  };
};

const createLeases = (db: Sql) => ({
  /**
   * Claims due jobs of the queues in `queues`. A worker names only the queues that its version
   * knows, so jobs of newer queues are left to workers of the newer version.
   */
  claim: (input: {
    workerId: string;
    leaseMs: number;
    limit: number;
    queues: readonly string[];
  }): Promise<ClaimedJob[]> =>
    claimedJobs.all(
      db,
      sql`
        UPDATE job SET
          locked_by = ${input.workerId},
          locked_until = now() + ${input.leaseMs}::int * interval '1 millisecond',
          attempts = attempts + 1
        WHERE id IN (
          SELECT id FROM job
          WHERE run_at <= now()
            AND parked_at IS NULL
            AND (locked_until IS NULL OR locked_until < now())
            AND queue = ANY(${input.queues}::text[])
          ORDER BY run_at
          LIMIT ${input.limit}::int
          FOR UPDATE SKIP LOCKED
        )
        RETURNING ${claimedJobs.columns("job")}`,
    ),

  /**
   * Extends the leases that the worker still holds.
   * @returns the ids of their jobs; a missing job now belongs to another worker
   */
  extend: async (input: {
    workerId: string;
    leaseMs: number;
    ids: readonly string[];
  }): Promise<string[]> => {
    const extended = await jobIds.all(
      db,
      sql`
        WITH held AS MATERIALIZED (
          SELECT id FROM job
          WHERE id = ANY(${input.ids}::text[])
            AND locked_by = ${input.workerId}
            AND locked_until >= now()
          ORDER BY id COLLATE "C"
          FOR NO KEY UPDATE
        )
        UPDATE job SET locked_until = now() + ${input.leaseMs}::int * interval '1 millisecond'
        FROM held
        WHERE job.id = held.id
        RETURNING ${jobIds.columns("job")}`,
    );
    return extended.map(({ id }) => id);
  },

  release: async (input: {
    workerId: string;
    id: string;
    againInMs: number;
  }): Promise<void> => {
    await db.change(sql`
      UPDATE job SET
        locked_by = NULL,
        locked_until = NULL,
        run_at = now() + ${input.againInMs}::int * interval '1 millisecond',
        last_error = NULL,
        failures = 0
      WHERE id = ${input.id} AND locked_by = ${input.workerId}`);
  },

  fail: async (turn: FailedTurn): Promise<void> => {
    await db.change(sql`
      UPDATE job SET
        locked_by = NULL,
        locked_until = NULL,
        run_at = now() + ${turn.againInMs}::int * interval '1 millisecond',
        last_error = ${turn.error},
        failures = ${turn.failures}::int,
        parked_at = CASE WHEN ${turn.isParked}::boolean THEN now() END
      WHERE id = ${turn.id} AND locked_by = ${turn.workerId}`);
  },

  /**
   * The number of jobs that have waited for a worker for longer than `olderThanMs` milliseconds.
   */
  overdue: async (olderThanMs: number): Promise<number> => {
    const before = sql`now() - ${olderThanMs}::int * interval '1 millisecond'`;
    const overdue = await counts.first(
      db,
      sql`
        SELECT count(*)::int AS count FROM job
        WHERE run_at < ${before}
          AND parked_at IS NULL
          AND (locked_until IS NULL OR locked_until < ${before})`,
    );
    return overdue?.count ?? 0;
  },
});

export type JobsRepository = ReturnType<typeof createJobsRepository>;

const LISTED_MAX = 200;

const selectParked = (
  db: SqlReader,
  condition: Statement = sql`j.parked_at IS NOT NULL`,
): Promise<ParkedJob[]> =>
  parkedJobs.all(
    db,
    sql`
      SELECT ${parkedJobs.columns("parked")}
      FROM (
        SELECT j.id, j.queue, coalesce(o.project_id, p.project_id) AS project_id,
          j.failures, j.last_error, j.parked_at
        FROM job j
        LEFT JOIN operation o ON o.id = j.id
        LEFT JOIN payout p ON p.id = j.id
        WHERE ${condition}
      ) AS parked
      ORDER BY parked.parked_at
      LIMIT ${LISTED_MAX}::int`,
  );

/** The parked jobs of all projects, the oldest first. */
export const listAllParked = ({
  pool,
}: Pick<Database, "pool">): Promise<readonly ParkedJob[]> => selectParked(sqlOn(pool));

/** The parked jobs of a project, the oldest first. */
export const listParked = (
  { pool }: Pick<Database, "pool">,
  projectId: string,
): Promise<readonly ParkedJob[]> =>
  selectParked(
    sqlOn(pool),
    sql`j.parked_at IS NOT NULL AND (o.project_id = ${projectId} OR p.project_id = ${projectId})`,
  );

export const isJobOfProject = async (
  tx: Tx,
  { id, projectId }: { id: string; projectId: string },
): Promise<boolean> => {
  const found = await sqlOf(tx).query(sql`
    SELECT 1 FROM operation WHERE id = ${id} AND project_id = ${projectId}
    UNION ALL
    SELECT 1 FROM payout WHERE id = ${id} AND project_id = ${projectId}`);
  return found.length > 0;
};

/**
 * Resumes a parked job. Returns false when the job is not parked. The next turn reads everything
 * that it needs from the rows that the job names.
 */
export const putBack = async (tx: Tx, id: string): Promise<boolean> => {
  const resumed = await sqlOf(tx).change(sql`
    UPDATE job SET parked_at = NULL, failures = 0, run_at = now()
    WHERE id = ${id} AND parked_at IS NOT NULL`);
  return resumed === 1;
};

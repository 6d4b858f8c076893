import { createBatcher } from "@/lib/core/batch";
import { currentTraceparent } from "@/lib/core/tracing";
import { announce, type Sql, sqlOf } from "@/lib/platform/db/sql";
import type { Database, Tx } from "@/lib/platform/db/client";

/** The Postgres channel that announces queues with new jobs. */
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

const INSERT = `
  INSERT INTO job (id, queue, run_at, traceparent, locked_by, locked_until, attempts)
  VALUES ($1, $2, $3::timestamptz, $4, $5, now() + $6::int * interval '1 millisecond',
    CASE WHEN $5::text IS NULL THEN 0 ELSE 1 END)`;

/**
 * Stores a job in the transaction that needs it, and announces it.
 * @param owner the worker that has claimed the job already; then nothing is announced
 */
export const insertJobOn = async (
  sql: Sql,
  { id, queue, runAt }: NewJob,
  owner: JobOwner | null = null,
): Promise<void> => {
  if (owner === null) announceJob(sql, queue);
  await sql.change(INSERT, [
    id,
    queue,
    runAt.toISOString(),
    currentTraceparent(),
    owner?.workerId ?? null,
    owner?.leaseMs ?? null,
  ]);
};

/** Like `insertJobOn`, for Prisma transactions. */
export const insertJob = (tx: Tx, job: NewJob): Promise<void> => insertJobOn(sqlOf(tx), job);

/**
 * Like `insertJob`, unless the job exists: then it is locked until the transaction ends, and keeps
 * its time.
 */
export const insertJobOnce = async (tx: Tx, { id, queue, runAt }: NewJob): Promise<void> => {
  await tx.$executeRaw`
    INSERT INTO job (id, queue, run_at, traceparent)
    VALUES (${id}, ${queue}, ${runAt.toISOString()}::timestamptz, ${currentTraceparent()})
    ON CONFLICT (id) DO UPDATE SET queue = EXCLUDED.queue`;
};

/** Locks the job until the transaction ends, so that others that store or need it wait. */
export const lockJob = async (tx: Tx, id: string): Promise<void> => {
  await tx.$queryRaw`SELECT 1 FROM job WHERE id = ${id} FOR UPDATE`;
};

/** Removes a job that this transaction has locked. */
export const endJob = async (tx: Tx, id: string): Promise<void> => {
  await tx.job.deleteMany({ where: { id } });
};

const END_ALL = `
  DELETE FROM job USING (
    SELECT id FROM job WHERE id = ANY($1::text[]) ORDER BY id COLLATE "C" FOR UPDATE
  ) AS locked WHERE job.id = locked.id`;

/**
 * Removes finished jobs. It is the last step of the transaction that ends their work, because
 * workers hold the locks of several jobs.
 */
export const endJobs = async (sql: Sql, ids: readonly string[]): Promise<void> => {
  await sql.change(END_ALL, [ids]);
};

/** The worker that runs a new job at once. */
export interface JobOwner {
  readonly workerId: string;
  readonly leaseMs: number;
}

export interface ClaimedJob {
  readonly id: string;
  readonly queue: string;
  /**
   * W3C Trace Context `traceparent` of the span in which the job was created; null without tracing.
   */
  readonly traceparent: string | null;
  /** Consecutive failed turns before this one. */
  readonly failures: number;
}

/** A failed turn of a job. */
interface FailedTurn {
  readonly workerId: string;
  readonly id: string;
  readonly error: string;
  readonly againInMs: number;
  /** The job's consecutive failures, this one included. */
  readonly failures: number;
  /** True when no worker takes the job until a person resumes it. */
  readonly isParked: boolean;
}

/** Jobs that end at the same time are deleted in one statement. */
const ENDS_MAX = 200;
// Statements that lock several jobs lock them in the order of their ids, so that they cannot
// deadlock.
const FINISH = `
  WITH locked AS MATERIALIZED (
    SELECT j.id FROM job j JOIN unnest($1::text[], $2::text[]) AS ended (id, worker_id)
      ON j.id = ended.id AND j.locked_by = ended.worker_id
    ORDER BY j.id COLLATE "C" FOR UPDATE OF j
  )
  DELETE FROM job USING locked WHERE job.id = locked.id`;
const EXTEND = `
  WITH held AS MATERIALIZED (
    SELECT id FROM job WHERE id = ANY($3) AND locked_by = $1 AND locked_until >= now()
    ORDER BY id COLLATE "C" FOR NO KEY UPDATE
  )
  UPDATE job SET locked_until = now() + $2::int * interval '1 millisecond' FROM held WHERE job.id = held.id
  RETURNING job.id`;

/**
 * Leases of jobs. Their times come from Postgres, so the clocks of instances need not agree. A job
 * belongs to the worker that holds its lease. `FOR UPDATE SKIP LOCKED` lets several instances claim
 * jobs at the same time without waiting for each other.
 */
export const createJobsRepository = ({ pool }: Pick<Database, "pool">) => {
  const ends = createBatcher({
    run: async (ended: readonly { workerId: string; id: string }[]) => {
      const values = [ended.map(({ id }) => id), ended.map(({ workerId }) => workerId)];
      await pool.query({ name: "jobs_finish", text: FINISH, values });
      return ended.map(() => true as const);
    },
    batchWeightMax: ENDS_MAX,
    lanes: 2,
  });
  return {
    ...createLeases(pool),
    finish: async (ended: { workerId: string; id: string }): Promise<void> => {
      await ends.submit(ended);
    },
  };
};

const createLeases = (pool: Database["pool"]) => ({
  /**
   * Claims due jobs of these queues. Jobs of queues that only a newer version knows are left to its
   * workers.
   */
  claim: async (input: {
    workerId: string;
    leaseMs: number;
    limit: number;
    queues: readonly string[];
  }): Promise<ClaimedJob[]> => {
    const { rows } = await pool.query<ClaimedJob>(
      `UPDATE job SET locked_by = $1, locked_until = now() + $2::int * interval '1 millisecond', attempts = attempts + 1
       WHERE id IN (
         SELECT id FROM job
         WHERE run_at <= now() AND parked_at IS NULL AND (locked_until IS NULL OR locked_until < now()) AND queue = ANY($4::text[])
         ORDER BY run_at LIMIT $3 FOR UPDATE SKIP LOCKED)
       RETURNING id, queue, traceparent, failures`,
      [input.workerId, input.leaseMs, input.limit, input.queues],
    );
    return rows;
  },

  /**
   * Extends the leases that the worker still holds.
   * @returns the ids of their jobs; a missing job now belongs to another worker
   */
  extend: async (input: {
    workerId: string;
    leaseMs: number;
    ids: readonly string[];
  }): Promise<string[]> => {
    const { rows } = await pool.query<{ id: string }>(EXTEND, [
      input.workerId,
      input.leaseMs,
      input.ids,
    ]);
    return rows.map((row) => row.id);
  },

  /** Releases a job after a turn that did not fail. */
  release: async (input: { workerId: string; id: string; againInMs: number }): Promise<void> => {
    await pool.query(
      `UPDATE job SET locked_by = NULL, locked_until = NULL, run_at = now() + $3::int * interval '1 millisecond', last_error = NULL,
         failures = 0
       WHERE id = $2 AND locked_by = $1`,
      [input.workerId, input.id, input.againInMs],
    );
  },

  fail: async ({
    workerId,
    id,
    error,
    againInMs,
    failures,
    isParked,
  }: FailedTurn): Promise<void> => {
    await pool.query(
      `UPDATE job SET locked_by = NULL, locked_until = NULL, run_at = now() + $3::int * interval '1 millisecond', last_error = $4,
         failures = $5, parked_at = CASE WHEN $6 THEN now() END
       WHERE id = $2 AND locked_by = $1`,
      [workerId, id, againInMs, error, failures, isParked],
    );
  },

  /**
   * The number of jobs that have waited for a worker for longer than `olderThanMs` milliseconds.
   */
  overdue: async (olderThanMs: number): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM job
       WHERE run_at < now() - $1::int * interval '1 millisecond' AND parked_at IS NULL
         AND (locked_until IS NULL OR locked_until < now() - $1::int * interval '1 millisecond')`,
      [olderThanMs],
    );
    return rows[0]?.count ?? 0;
  },
});

export type JobsRepository = ReturnType<typeof createJobsRepository>;

/** A job that failed too often. No worker takes it until a person resumes it. */
export interface ParkedJob {
  /** Id of the operation, payout or mail that it drives. */
  readonly id: string;
  readonly queue: string;
  /** Null when it belongs to the whole installation, as mails do. */
  readonly projectId: string | null;
  readonly failures: number;
  readonly lastError: string | null;
  readonly parkedAt: Date;
}

const LISTED_MAX = 200;

const SELECT = `
  SELECT j.id, j.queue, coalesce(o.project_id, p.project_id) AS "projectId", j.failures, j.last_error AS "lastError",
    j.parked_at AS "parkedAt"
  FROM job j LEFT JOIN operation o ON o.id = j.id LEFT JOIN payout p ON p.id = j.id
  WHERE j.parked_at IS NOT NULL`;
const OLDEST_FIRST = `ORDER BY j.parked_at LIMIT ${String(LISTED_MAX)}`;

/** The parked jobs of all projects, the oldest first. */
export const listAllParked = async ({
  pool,
}: Pick<Database, "pool">): Promise<readonly ParkedJob[]> =>
  (await pool.query<ParkedJob>(`${SELECT} ${OLDEST_FIRST}`)).rows;

/** The parked jobs of a project, the oldest first. */
export const listParked = async (
  { pool }: Pick<Database, "pool">,
  projectId: string,
): Promise<readonly ParkedJob[]> =>
  (
    await pool.query<ParkedJob>(
      `${SELECT} AND (o.project_id = $1 OR p.project_id = $1) ${OLDEST_FIRST}`,
      [projectId],
    )
  ).rows;

/** Whether the operation or payout that a job drives belongs to the project. */
export const isJobOfProject = async (
  tx: Tx,
  { id, projectId }: { id: string; projectId: string },
): Promise<boolean> => {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM operation WHERE id = ${id} AND project_id = ${projectId}
    UNION ALL SELECT 1 FROM payout WHERE id = ${id} AND project_id = ${projectId}`;
  return found.length > 0;
};

/**
 * Resumes a parked job. Returns false when it is not parked. Its worker finds all it needs in the
 * rows that the job names.
 */
export const putBack = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.$executeRaw`
    UPDATE job SET parked_at = NULL, failures = 0, run_at = now() WHERE id = ${id} AND parked_at IS NOT NULL`) ===
  1;

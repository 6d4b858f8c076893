import { createBatcher } from "@/lib/core/batch";
import { currentTraceparent } from "@/lib/core/tracing";
import { announce } from "@/lib/db/announcements";
import type { JudgedPart, StatementPart } from "@/lib/db/together";
import type { Database, Tx } from "@/lib/db/client";

/** On which the queues of new jobs are announced. */
export const JOB_CHANNEL = "job";

/** Announces to the workers, when the transaction commits, that a job was stored. */
export const announceJob = (transaction: object, queue: string): void => {
  announce(transaction, { channel: JOB_CHANNEL, payload: queue });
};

/** Stores a job in the transaction that makes it necessary, and announces it. */
export const insertJob = async (
  tx: Tx,
  { id, queue, runAt }: { readonly id: string; readonly queue: string; readonly runAt: Date },
): Promise<void> => {
  await tx.job.create({ data: { id, queue, runAt, traceparent: currentTraceparent() } });
  announceJob(tx, queue);
};

/**
 * As `insertJob`, as a part of a statement; the caller also calls `announceJob`.
 * @param owner has claimed it already; nothing is announced then
 */
export const jobPart = (
  job: { readonly id: string; readonly queue: string; readonly runAt: Date },
  owner: JobOwner | null = null,
): StatementPart => ({
  text: `INSERT INTO job (id, queue, run_at, traceparent, locked_by, locked_until, attempts)
    VALUES ($1, $2, $3::timestamptz, $4, $5, now() + $6::int * interval '1 millisecond', CASE WHEN $5::text IS NULL THEN 0 ELSE 1 END)`,
  values: [
    ...[job.id, job.queue, job.runAt.toISOString(), currentTraceparent()],
    ...[owner?.workerId ?? null, owner?.leaseMs ?? null],
  ],
});

/** Removes jobs whose work has ended, as the last part of the statement that ends it: workers hold the locks of several jobs. */
export const endJobsPart = (ids: readonly string[]): JudgedPart => ({
  text: `DELETE FROM job USING (
      SELECT id FROM job WHERE id = ANY($1::text[]) ORDER BY id COLLATE "C" FOR UPDATE
    ) AS locked WHERE job.id = locked.id RETURNING job.id`,
  values: [ids],
  judge: () => undefined,
});

/** Who runs a new job at once. */
export interface JobOwner {
  readonly workerId: string;
  readonly leaseMs: number;
}

export interface ClaimedJob {
  readonly id: string;
  readonly queue: string;
  /** W3C Trace Context `traceparent` of the span in which the job was created; null without tracing. */
  readonly traceparent: string | null;
  /** Consecutive failed turns before this one. */
  readonly failures: number;
}

/** A failed turn of a job. */
export interface FailedTurn {
  readonly workerId: string;
  readonly id: string;
  readonly error: string;
  readonly againInMs: number;
  /** The job's consecutive failures, this one included. */
  readonly failures: number;
  /** No worker takes the job any more until a person puts it back. */
  readonly isParked: boolean;
}

/** Jobs that end at the same time are deleted in one statement. */
const ENDS_MAX = 200;
// Statements that lock several jobs lock them in the order of their ids, so that they never wait for each other.
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
 * Leases of jobs. Their times come from Postgres, so the clocks of instances need not agree. A job belongs to the worker that holds its
 * lease. `FOR UPDATE SKIP LOCKED` lets several instances claim jobs at the same time without waiting for each other.
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
  /** Takes due jobs of these queues. Those of a queue that only a newer version knows are left to its workers. */
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

  /** Extends the leases that the worker still holds. @returns the ids of their jobs; a job that is missing now belongs to another worker */
  extend: async (input: { workerId: string; leaseMs: number; ids: readonly string[] }): Promise<string[]> => {
    const { rows } = await pool.query<{ id: string }>(EXTEND, [input.workerId, input.leaseMs, input.ids]);
    return rows.map((row) => row.id);
  },

  /** After a turn that did not fail. */
  release: async (input: { workerId: string; id: string; againInMs: number }): Promise<void> => {
    await pool.query(
      `UPDATE job SET locked_by = NULL, locked_until = NULL, run_at = now() + $3::int * interval '1 millisecond', last_error = NULL,
         failures = 0
       WHERE id = $2 AND locked_by = $1`,
      [input.workerId, input.id, input.againInMs],
    );
  },

  fail: async ({ workerId, id, error, againInMs, failures, isParked }: FailedTurn): Promise<void> => {
    await pool.query(
      `UPDATE job SET locked_by = NULL, locked_until = NULL, run_at = now() + $3::int * interval '1 millisecond', last_error = $4,
         failures = $5, parked_at = CASE WHEN $6 THEN now() END
       WHERE id = $2 AND locked_by = $1`,
      [workerId, id, againInMs, error, failures, isParked],
    );
  },

  /** The number of jobs that have waited for a worker for longer than `olderThanMs` milliseconds. */
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

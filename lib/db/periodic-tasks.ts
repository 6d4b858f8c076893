import type { Database } from "./client";

interface PeriodicTask {
  readonly name: string;
  /** At most one run begins in this time, over all instances. */
  readonly everyMs: number;
}

// One statement, so that of several instances exactly one moves the time on. Times are those of the database.
const CLAIM = `
  INSERT INTO periodic_task (name, due_at) VALUES ($1, now() + $2::float8 * interval '1 ms')
  ON CONFLICT (name) DO UPDATE SET due_at = EXCLUDED.due_at WHERE periodic_task.due_at <= now()
  RETURNING name`;

/**
 * Claims the next run of a task that one instance does for all. A process that dies during its run loses this one run only, so
 * the task must be one that may be late.
 * @returns false when a run began less than `everyMs` milliseconds ago
 */
export const claimRun = async ({ pool }: Pick<Database, "pool">, { name, everyMs }: PeriodicTask): Promise<boolean> => {
  const { rowCount } = await pool.query(CLAIM, [name, everyMs]);
  return rowCount === 1;
};

/** Keeps other instances from beginning the task while this one's run takes longer than `everyMs`. */
export const postponeRun = async ({ pool }: Pick<Database, "pool">, { name, everyMs }: PeriodicTask): Promise<void> => {
  await pool.query("UPDATE periodic_task SET due_at = now() + $2::float8 * interval '1 ms' WHERE name = $1", [
    name,
    everyMs,
  ]);
};

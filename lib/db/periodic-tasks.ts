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

/** While a run that takes long is under way, its claim is renewed this many times before it would end. */
const RENEWALS_PER_LEASE = 3;

interface LeasedTask extends PeriodicTask {
  /** A run that neither ends nor renews its claim for this long, because its process died or stands still, is followed by another. */
  readonly leaseMs: number;
}

/**
 * Runs `work` unless another instance runs it now, or has ended a run less than `everyMs` milliseconds ago. Two runs at the same time are
 * possible after a process was frozen for longer than the lease, so `work` must be safe beside itself.
 * @returns whether this call ran it
 * @throws the error of `work`, or of the database
 */
export const runAlone = async (
  database: Pick<Database, "pool">,
  { name, everyMs, leaseMs }: LeasedTask,
  work: () => Promise<unknown>,
): Promise<boolean> => {
  const lease = { name, everyMs: leaseMs };
  if (!(await claimRun(database, lease))) return false;
  // When a renewal fails the lease ends, and another instance may begin.
  let renewed = Promise.resolve();
  const renew = (): void => {
    renewed = renewed.then(() => postponeRun(database, lease)).catch(() => undefined);
  };
  const renewal = setInterval(renew, leaseMs / RENEWALS_PER_LEASE);
  try {
    await work();
  } finally {
    clearInterval(renewal);
    await renewed;
    await postponeRun(database, { name, everyMs });
  }
  return true;
};

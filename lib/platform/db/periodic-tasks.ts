import type { Database } from "./client";
import { sqlOn } from "./sql";
import { sql } from "./statement";

interface PeriodicTask {
  readonly name: string;
  /** Over all instances, at most one run begins within this time. */
  readonly everyMs: number;
}

/**
 * Claims the next run of a task that one instance performs for all. When a process dies during its
 * run, only this run is lost, so the task must tolerate a delay.
 * @returns false when a run began less than `everyMs` milliseconds ago
 */
export const claimRun = async (
  { pool }: Pick<Database, "pool">,
  { name, everyMs }: PeriodicTask,
): Promise<boolean> => {
  // One statement, so that exactly one of several instances moves the time forward. All times are
  // from the database's clock.
  const claimed = await sqlOn(pool).change(sql`
    INSERT INTO periodic_task (name, due_at)
    VALUES (${name}, now() + ${everyMs}::float8 * interval '1 ms')
    ON CONFLICT (name) DO UPDATE SET due_at = EXCLUDED.due_at
    WHERE periodic_task.due_at <= now()`);
  return claimed === 1;
};

/**
 * Sets the next start of the task to `everyMs` milliseconds from now. A run that takes longer than
 * `everyMs` calls it, so that no other instance starts the task in the meantime.
 */
export const postponeRun = async (
  { pool }: Pick<Database, "pool">,
  { name, everyMs }: PeriodicTask,
): Promise<void> => {
  await sqlOn(pool).change(sql`
    UPDATE periodic_task SET due_at = now() + ${everyMs}::float8 * interval '1 ms'
    WHERE name = ${name}`);
};

/** How many times the claim of a long run is renewed within one lease. */
const RENEWALS_PER_LEASE = 3;

interface LeasedTask extends PeriodicTask {
  /**
   * When a run neither ends nor renews its claim for this long, because its process died or is
   * frozen, another run may begin.
   */
  readonly leaseMs: number;
}

/**
 * Runs `work` unless another instance is running it, or has ended a run less than `everyMs`
 * milliseconds ago. After a process was frozen for longer than the lease, two runs may overlap, so
 * `work` must be safe to run concurrently.
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
  // A failed renewal is ignored. The lease then ends, and another instance may start the task.
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

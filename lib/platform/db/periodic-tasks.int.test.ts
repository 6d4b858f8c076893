import { afterAll, expect, test, vi } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { createDatabase } from "./client";
import { claimRun, runAlone } from "./periodic-tasks";

const { url, database } = await testDatabase();
const instances = Array.from({ length: 4 }, () => createDatabase(url, { poolSize: 2 }));
afterAll(() => Promise.all(instances.map((one) => one.close())));

const HOUR_MS = 3_600_000;

const dueInMs = async (name: string): Promise<number> => {
  const { rows } = await database.pool.query<{ ms: number }>(
    "SELECT (extract(epoch FROM due_at - now()) * 1000)::float8 AS ms FROM periodic_task WHERE name = $1",
    [name],
  );
  return rows[0]?.ms ?? 0;
};

test("of instances that begin at the same time one runs, and the next run begins after the interval", async () => {
  const task = { name: "one", everyMs: HOUR_MS, leaseMs: 10 * HOUR_MS };
  let runs = 0;
  const runAll = () =>
    Promise.all(
      [...instances, ...instances].map((one) =>
        runAlone(one, task, () => Promise.resolve((runs += 1))),
      ),
    );
  expect((await runAll()).filter(Boolean)).toHaveLength(1);
  expect((await runAll()).filter(Boolean)).toHaveLength(0);
  // The lease ended with the run.
  expect(await dueInMs("one")).toBeLessThanOrEqual(HOUR_MS);
  await database.pool.query(
    "UPDATE periodic_task SET due_at = now() - interval '1 s' WHERE name = 'one'",
  );
  expect((await runAll()).filter(Boolean)).toHaveLength(1);
  expect(runs).toBe(2);
});

test("a run that takes longer than its lease keeps its turn", async () => {
  const task = { name: "long", everyMs: HOUR_MS, leaseMs: 300 };
  const claimed = async () => claimRun(database, { name: "long", everyMs: HOUR_MS });
  await runAlone(database, task, async () => {
    // The time is moved to the past, as if the lease were nearly over, so that only a renewal moves
    // it forward again.
    for (let renewals = 0; renewals < 3; renewals += 1) {
      await database.pool.query(
        "UPDATE periodic_task SET due_at = now() + interval '50 ms' WHERE name = 'long'",
      );
      await vi.waitFor(async () => expect(await dueInMs("long")).toBeGreaterThan(100), {
        interval: 5,
        timeout: 10_000,
      });
    }
  });
  expect(await claimed()).toBe(false);
  expect(await dueInMs("long")).toBeGreaterThan(HOUR_MS / 2);
});

test("a run that fails leaves the turn to the next one, after the interval", async () => {
  const task = { name: "failing", everyMs: 1, leaseMs: HOUR_MS };
  await expect(runAlone(database, task, () => Promise.reject(new Error("no")))).rejects.toThrow(
    "no",
  );
  await vi.waitFor(
    async () => expect(await runAlone(database, task, () => Promise.resolve())).toBe(true),
    20_000,
  );
});

test("an instance that died in its run is followed by another when its lease is over", async () => {
  const task = { name: "dead", everyMs: 1, leaseMs: HOUR_MS };
  expect(await claimRun(database, { name: "dead", everyMs: task.leaseMs })).toBe(true);
  expect(await runAlone(database, task, () => Promise.resolve())).toBe(false);
  await database.pool.query(
    "UPDATE periodic_task SET due_at = now() - interval '1 s' WHERE name = 'dead'",
  );
  expect(await runAlone(database, task, () => Promise.resolve())).toBe(true);
});

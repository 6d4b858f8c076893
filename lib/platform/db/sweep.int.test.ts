import { expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { createDatabase } from "./client";
import { claimRun } from "./periodic-tasks";
import { sweepExpired, sweepWhenDue } from "./sweep";

const EVERY_MS = 3_600_000;
const AGES = {
  quotesDays: 30,
  codesDays: 90,
  rawTransactionsDays: 90,
  snapshotsDays: 400,
  apiRequestsDays: 30,
  notificationsDays: 90,
  deliveriesDays: 30,
};
const { url, database } = await testDatabase();

const buckets = async (): Promise<number> => {
  const { rows } = await database.pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM rate_window",
  );
  return rows[0]?.count ?? 0;
};

/** Windows that ended two hours ago, which every sweep deletes. */
const addExpired = (count: number): Promise<unknown> =>
  database.pool.query(
    `INSERT INTO rate_window (bucket, window_start, count)
     SELECT 'bucket ' || n, now() - interval '2 hours', 1 FROM generate_series(1, $1::int) AS n`,
    [count],
  );

const makeDue = (): Promise<unknown> =>
  database.pool.query("UPDATE periodic_task SET due_at = now()");

test("of instances that sweep at the same time exactly one does, once per interval", async () => {
  const instances = Array.from({ length: 4 }, () => createDatabase(url, { poolSize: 2 }));
  const sweepAll = async (): Promise<number> => {
    const swept = await Promise.all(
      [...instances, ...instances].map((one) => sweepWhenDue(one, AGES, { everyMs: EVERY_MS })),
    );
    return swept.filter(Boolean).length;
  };
  try {
    await addExpired(3);
    expect([await sweepAll(), await buckets()]).toEqual([1, 0]);
    await addExpired(3);
    expect([await sweepAll(), await buckets()]).toEqual([0, 3]);
    await makeDue();
    expect([await sweepAll(), await buckets()]).toEqual([1, 0]);
  } finally {
    await Promise.all(instances.map((one) => one.close()));
  }
});

test("one sweep deletes more rows than one batch holds", async () => {
  await makeDue();
  await addExpired(12_000);
  expect(await sweepWhenDue(database, AGES, { everyMs: EVERY_MS })).toBe(true);
  expect(await buckets()).toBe(0);
});

test("tasks of different names do not wait for each other", async () => {
  expect(await claimRun(database, { name: "one", everyMs: EVERY_MS })).toBe(true);
  expect(await claimRun(database, { name: "other", everyMs: EVERY_MS })).toBe(true);
  expect(await claimRun(database, { name: "one", everyMs: EVERY_MS })).toBe(false);
});

test("a nonce of a sign-in is kept for a day after its end, so that its second use is known as such, and then deleted", async () => {
  const dayMs = 24 * 3_600_000;
  const nonce = (name: string, ageMs: number) => ({
    nonce: name,
    purpose: "sign-in",
    expiresAt: new Date(Date.now() - ageMs),
  });
  await database.prisma.siweNonce.createMany({
    data: [nonce("old", dayMs + 60_000), nonce("recent", dayMs - 60_000)],
  });
  await sweepExpired(database, AGES);
  const kept = await database.prisma.siweNonce.findMany({ select: { nonce: true } });
  expect(kept).toEqual([{ nonce: "recent" }]);
});

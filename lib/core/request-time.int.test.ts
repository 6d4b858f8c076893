import { setTimeout as sleep } from "node:timers/promises";
import { TimeoutError } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { withinRequestTime, withinTimeLeft } from "./request-time";

const { database } = await testDatabase({ role: "owner" });
await database.pool.query("CREATE TABLE note (word text PRIMARY KEY)");
beforeEach(async () => {
  await database.pool.query("TRUNCATE note");
});

const BUDGET_MS = 100;
const LATE_MS = 150;
const add = "INSERT INTO note VALUES ($1)";

const words = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ word: string }>(
    "SELECT word FROM note ORDER BY word",
  );
  return rows.map(({ word }) => word);
};

/** A transaction that stores the word, and then takes `ms` before its COMMIT. */
const WAYS = {
  Prisma: (word: string, ms: number) =>
    database.transaction(async (tx) => {
      await tx.$executeRawUnsafe(add, word);
      await sleep(ms);
    }),
  "the raw pool": (word: string, ms: number) =>
    database.rawTransaction(async (sql) => {
      await sql.change(add, [word]);
      await sleep(ms);
    }),
};

describe.each(Object.entries(WAYS))("a transaction of %s", (_name, store) => {
  test("is rolled back when the request's time is over before its COMMIT", async () => {
    const late = withinRequestTime(BUDGET_MS, () => store("late", LATE_MS));
    await expect(late).rejects.toMatchObject({
      code: "service_unavailable",
      retryAfterSeconds: expect.any(Number) as number,
    });
    expect(await words()).toEqual([]);
  });

  test("is committed late when the request has committed another one before", async () => {
    await withinRequestTime(BUDGET_MS, async () => {
      await store("in time", 0);
      await store("late", LATE_MS);
    }).catch(() => undefined);
    const stored = await words();
    // On a loaded machine the first transaction may be late too; then neither is stored.
    expect(stored.includes("late")).toBe(stored.includes("in time"));
  });

  test("outside of a request takes as long as it needs", async () => {
    await store("worker", LATE_MS);
    expect(await words()).toEqual(["worker"]);
  });
});

test("a transaction beside the call that ended the request is rolled back too", async () => {
  const never = () => new Promise<never>(() => undefined);
  const late = () => new TimeoutError({ body: {}, url: "Chain" });
  const beside: Promise<unknown>[] = [];
  const request = withinRequestTime(BUDGET_MS, () => {
    beside.push(WAYS.Prisma("one", 2 * LATE_MS), WAYS["the raw pool"]("two", 2 * LATE_MS));
    return Promise.all([withinTimeLeft(never, late), ...beside]);
  });
  await expect(request).rejects.toMatchObject({ code: "chain_unavailable" });
  const outcomes = await Promise.allSettled(beside);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await words()).toEqual([]);
});

test("a call to a chain ends with the request's time, and the error names the limit", async () => {
  const never = () => new Promise<never>(() => undefined);
  const late = () => new TimeoutError({ body: {}, url: "Chain" });
  const request = withinRequestTime(BUDGET_MS, () => withinTimeLeft(never, late));
  await expect(request).rejects.toMatchObject({
    code: "chain_unavailable",
    message: expect.stringContaining("0.1 seconds") as string,
  });
});

test("work that goes on after the answer has no limit", async () => {
  let goOn = (): void => undefined;
  const answered = new Promise<void>((resolve) => (goOn = resolve));
  const goesOn = async (): Promise<string> => {
    await answered;
    await sleep(LATE_MS);
    return withinTimeLeft(
      () => Promise.resolve("done"),
      () => new Error("late"),
    );
  };
  const { work } = await withinRequestTime(BUDGET_MS, () =>
    Promise.resolve({ work: goesOn() }),
  );
  goOn();
  expect(await work).toBe("done");
});

import pg from "pg";
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { createPool } from "./pool";
import { databaseProbes, type DatabaseProbesOptions } from "./readiness-probes";

const { url, database } = await testDatabase({ role: "owner" });
const pool = createPool(url, { max: 1 });
afterAll(() => pool.end());
await database.pool.query(
  "CREATE TABLE money (id int PRIMARY KEY, amount int); INSERT INTO money VALUES (1, 100)",
);

const ask = (name: string, options: Partial<DatabaseProbesOptions> = {}): Promise<string> => {
  const probes = databaseProbes({
    pool,
    databaseUrl: url,
    overdueJobs: () => Promise.resolve(0),
    folders: ["/"],
    ...options,
  });
  const probe = probes.find((each) => each.name === name);
  if (probe === undefined) throw new Error(`There is no probe ${name}.`);
  return probe.check(AbortSignal.timeout(30_000));
};

const addInstance = (
  id: string,
  own: { works?: boolean; aheadMs?: number; silentMs?: number },
): Promise<unknown> =>
  database.pool.query(
    `INSERT INTO instance (id, works, beats, clock_ahead_ms, started_at, beat_at)
     VALUES ($1, $2, 1, $3, now(), now() - $4::float8 * interval '1 ms')`,
    [id, own.works ?? false, own.aheadMs ?? 0, own.silentMs ?? 0],
  );

beforeEach(async () => {
  await database.pool.query("DELETE FROM instance");
});

test("connections have limits, and one without them is named with what to do", async () => {
  expect(await ask("database")).toContain("PostgreSQL");
  const plain = new pg.Pool({ connectionString: url, max: 1 });
  await expect(ask("database", { pool: plain })).rejects.toThrow("no limits");
  await plain.end();
});

test("a transaction that holds others up for long is named with its process; one that only waits is not", async () => {
  const [holder, waiter] = [
    new pg.Client({ connectionString: url }),
    new pg.Client({ connectionString: url }),
  ];
  onTestFinished(async () => {
    await Promise.all([holder.end(), waiter.end()]);
  });
  await Promise.all([holder.connect(), waiter.connect()]);
  const { rows } = await holder.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const pid = String(rows[0]?.pid);
  await holder.query("BEGIN");
  await holder.query("UPDATE money SET amount = 1");
  const waiting = waiter.query("UPDATE money SET amount = 2");
  // PostgreSQL may receive the second update after the first question: ask until it waits.
  const blocked = new RegExp(`process ${pid} .*, and 1 wait for it.*pg_terminate_backend`);
  await vi.waitFor(() => expect(ask("locks", { lockMs: 1 })).rejects.toThrow(blocked), 10_000);
  expect(await ask("locks", { lockMs: 600_000 })).toBe("no lock is held for long");
  await holder.query("COMMIT");
  await waiting;
  expect(await ask("locks", { lockMs: 1 })).toBe("no lock is held for long");
});

test("a transaction that nobody goes on with is named though nobody waits for it yet", async () => {
  const holder = new pg.Client({ connectionString: url });
  onTestFinished(() => holder.end());
  await holder.connect();
  await holder.query("BEGIN");
  await holder.query("UPDATE money SET amount = 3");
  await vi.waitFor(
    () => expect(ask("locks", { lockMs: 1 })).rejects.toThrow("idle in transaction"),
    10_000,
  );
  await holder.query("ROLLBACK");
});

test("without a worker that is alive nothing is ready, whoever else is", async () => {
  await addInstance("web", {});
  await addInstance("dead worker", { works: true, silentMs: 60_000 });
  await expect(ask("worker")).rejects.toThrow("Start an instance with ROLE=worker");
  await addInstance("worker", { works: true });
  expect(await ask("worker")).toBe("1 alive, no job waits");
  await expect(ask("worker", { overdueJobs: () => Promise.resolve(3) })).rejects.toThrow(
    "3 jobs wait",
  );
});

test.each([
  [3_600_000, "3600 s ahead of"],
  [-3_600_000, "3600 s behind"],
])(
  "a clock that is wrong by %d ms is named, whichever instance has it",
  async (aheadMs, words) => {
    await addInstance("right", { aheadMs: 4_000 });
    expect(await ask("clock")).toBe("as the database's");
    await addInstance("wrong", { works: true, aheadMs });
    await expect(ask("clock")).rejects.toThrow(`The clock of wrong is ${words}`);
  },
);

test("a disk with too little free space is named, the database's own as well", async () => {
  expect(await ask("disk")).toMatch(/\d+ GB free/);
  await expect(ask("disk", { diskFreeMinBytes: Number.MAX_SAFE_INTEGER })).rejects.toThrow(
    "The disk of / is nearly full",
  );
  const own = ask("disk", { folders: [], diskFreeMinBytes: Number.MAX_SAFE_INTEGER });
  await expect(own).rejects.toThrow(/The disk of \/.*postgres.* is nearly full/);
});

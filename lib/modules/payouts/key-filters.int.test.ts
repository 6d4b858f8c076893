import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { createDatabase } from "@/lib/db/client";
import { sqlOn, type Sql } from "@/lib/db/sql";
import { afterFile } from "@/lib/testing/after-file";
import { testDatabase } from "@/lib/testing/database";
import { indexNewKeys, newKeysPart } from "./duplicate-repository";
import { createKeyFilters, type KeyFilters } from "./key-filters";

const { url } = await testDatabase();
// Twenty connections, because the tests run several instances at once, and each of them keeps transactions open.
const pool = createDatabase(url, { poolSize: 20 });
afterFile(() => pool.close());
const sql = sqlOn(pool.pool);

const keysOf = (count: number): string[] => Array.from({ length: count }, () => randomBytes(16).toString("hex"));
const all = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const faults: unknown[] = [];
const instance = (options: { unusedMsMax?: number } = {}): KeyFilters =>
  createKeyFilters({ sql, onFault: (error) => faults.push(error), ...options });

interface Payment {
  readonly projectId: string;
  readonly keys: readonly string[];
  /** Runs in the transaction when the keys are stored, before the commit. */
  readonly before?: () => Promise<void>;
}

const store = async (tx: Sql, { projectId, keys }: Payment, id: string): Promise<void> => {
  const { text, values } = newKeysPart({ id, projectId }, { keys, allowDuplicates: true, now: new Date() });
  await tx.change(text, values);
};

const candidatesOf = async (
  filters: KeyFilters,
  tx: Sql,
  payout: { id: string; projectId: string },
  keys: readonly string[],
): Promise<readonly number[] | null> => (await filters.read(tx, payout, keys.length))?.(keys) ?? null;

/** Accepts a payout as the service does, without its locks. @returns the candidates */
const accept = (filters: KeyFilters, payment: Payment): Promise<readonly number[] | null> =>
  pool.rawTransaction(async (tx) => {
    const id = newId("payout");
    const candidates = await candidatesOf(filters, tx, { id, projectId: payment.projectId }, payment.keys);
    await store(tx, payment, id);
    await payment.before?.();
    return candidates;
  });

/** The candidates among keys that are not stored. */
const ask = (filters: KeyFilters, projectId: string, keys: readonly string[]): Promise<readonly number[] | null> =>
  pool.rawTransaction((tx) => candidatesOf(filters, tx, { id: newId("payout"), projectId }, keys));

/** An instance whose filter of the project is built. */
const built = async (projectId: string, options: { unusedMsMax?: number } = {}): Promise<KeyFilters> => {
  const filters = instance(options);
  expect(await ask(filters, projectId, keysOf(100))).toBeNull();
  await filters.settled();
  return filters;
};

test("the first payout of a project has all keys searched, and few rows always", async () => {
  const projectId = newId("project");
  const filters = await built(projectId);
  expect(await ask(filters, projectId, keysOf(99))).toBeNull();
  expect((await ask(filters, projectId, keysOf(100)))?.length).toBeLessThan(20);
  expect(await ask(filters, newId("project"), keysOf(100))).toBeNull();
  await filters.settled();
});

test("a filter finds keys that were stored before it was built, in both tables, and of its project alone", async () => {
  const projectId = newId("project");
  const [moved, fresh] = [keysOf(150), keysOf(120)];
  await accept(instance(), { projectId, keys: moved });
  await indexNewKeys(sql);
  await accept(instance(), { projectId, keys: fresh });
  const filters = await built(projectId);
  expect(await ask(filters, projectId, moved)).toEqual(all(150));
  expect(await ask(filters, projectId, fresh)).toEqual(all(120));
  const other = newId("project");
  expect((await ask(await built(other), other, moved))?.length).toBeLessThan(20);
});

test("keys of a transaction that had written before it read the added keys are found, by its own instance and another", async () => {
  const projectId = newId("project");
  const [own, other] = [await built(projectId), await built(projectId)];
  const keys = keysOf(100);
  await pool.rawTransaction(async (tx) => {
    const id = newId("payout");
    await tx.query("SELECT pg_current_xact_id()", []);
    // A later transaction ends, so that the snapshot of this one counts its own id as seen.
    await sql.query("SELECT pg_current_xact_id()", []);
    await candidatesOf(own, tx, { id, projectId }, keys);
    await store(tx, { projectId, keys }, id);
  });
  expect(await ask(own, projectId, keys)).toEqual(all(100));
  expect(await ask(other, projectId, keys)).toEqual(all(100));
});

test("a reading behind a failed statement fails with it, and the filter stays", async () => {
  const projectId = newId("project");
  const filters = await built(projectId);
  const failing = pool.rawTransaction(async (tx) => {
    const [failed, reading] = tx.together(() => [
      tx.query("SELECT 1 / 0", []),
      filters.read(tx, { id: newId("payout"), projectId }, 100),
    ]);
    await Promise.all([failed, reading]);
  });
  await expect(failing).rejects.toMatchObject({ code: "22012" });
  expect(await ask(filters, projectId, keysOf(100))).not.toBeNull();
});

test("keys that another instance stores are found before they are moved and after", async () => {
  const projectId = newId("project");
  const [here, there] = [await built(projectId), await built(projectId)];
  const [first, second] = [keysOf(100), keysOf(100)];
  await accept(there, { projectId, keys: first });
  expect(await ask(here, projectId, first)).toEqual(all(100));
  await accept(there, { projectId, keys: second });
  await indexNewKeys(sql);
  expect(await ask(here, projectId, second)).toEqual(all(100));
  expect(await ask(there, projectId, second)).toEqual(all(100));
});

test("keys of a transaction that was open when the filter was brought up to date are found after its commit", async () => {
  const projectId = newId("project");
  const [here, there] = [await built(projectId), await built(projectId)];
  const [slow, quick] = [keysOf(100), keysOf(100)];
  const asked: (readonly number[] | null)[] = [];
  const before = async (): Promise<void> => {
    // A later transaction commits first, and the filter reads beyond the open one.
    await accept(there, { projectId, keys: quick });
    asked.push(await ask(here, projectId, quick), await ask(here, projectId, keysOf(100)));
  };
  await accept(there, { projectId, keys: slow, before });
  expect(asked[0]).toEqual(all(100));
  expect(await ask(here, projectId, slow)).toEqual(all(100));
  const late = await built(projectId);
  expect(await ask(late, projectId, slow)).toEqual(all(100));
});

test("keys of a transaction that failed are searched, and found by nobody else", async () => {
  const projectId = newId("project");
  const [here, there] = [await built(projectId), await built(projectId)];
  const keys = keysOf(100);
  const before = () => Promise.reject(new Error("rolled back"));
  await expect(accept(here, { projectId, keys, before })).rejects.toThrow("rolled back");
  expect(await ask(here, projectId, keys)).toEqual(all(100));
  expect((await ask(there, projectId, keys))?.length).toBeLessThan(20);
});

test("keys that an older version puts into the index at once are found", async () => {
  const projectId = newId("project");
  const filters = await built(projectId);
  const keys = keysOf(100);
  await sql.change(
    `INSERT INTO payout_row_key (project_id, row_key, payout_id, index, created_at)
     SELECT $1, decode(key, 'hex'), $2, 0, now() FROM unnest($3::text[]) AS key`,
    [projectId, newId("payout"), keys],
  );
  expect(await ask(filters, projectId, keys)).toEqual(all(100));
});

test("after a crash of the server, or on another one, all keys are searched until the filter is built anew", async () => {
  const projectId = newId("project");
  const filters = await built(projectId);
  expect(await ask(filters, projectId, keysOf(100))).not.toBeNull();
  // An unlogged table is empty then.
  await sql.change("DELETE FROM server_life", []);
  expect(await ask(filters, projectId, keysOf(100))).toBeNull();
  await filters.settled();
  expect(await ask(filters, projectId, keysOf(100))).not.toBeNull();
  const isUnlogged = "SELECT relpersistence = 'u' AS is FROM pg_class WHERE oid = 'server_life'::regclass";
  expect(await sql.query(isUnlogged, [])).toEqual([{ is: true }]);
});

test("a filter that was not used for long is built anew", async () => {
  const projectId = newId("project");
  const filters = await built(projectId, { unusedMsMax: 0 });
  expect(await ask(filters, projectId, keysOf(100))).toBeNull();
  await filters.settled();
});

test("no filter is built where nothing lists the keys that are added", async () => {
  const projectId = newId("project");
  await sql.change("ALTER TABLE payout_row_key DISABLE TRIGGER list_payout_keys", []);
  try {
    const filters = await built(projectId);
    expect(await ask(filters, projectId, keysOf(100))).toBeNull();
  } finally {
    await sql.change("ALTER TABLE payout_row_key ENABLE TRIGGER list_payout_keys", []);
  }
});

test("a filter that could not be built is reported once, and not built for every payout", async () => {
  const projectId = newId("project");
  const filters = createKeyFilters({
    sql: { query: () => Promise.reject(new Error("no connection")), change: () => Promise.resolve(0) },
    onFault: (error) => faults.push(error),
  });
  for (let time = 0; time < 3; time += 1) {
    expect(await ask(filters, projectId, keysOf(100))).toBeNull();
    await filters.settled();
  }
  expect(faults.splice(0)).toHaveLength(1);
});

test("a filter that lacks very many keys is built anew, and the payout does not read them", async () => {
  const projectId = newId("project");
  const filters = await built(projectId);
  const many = keysOf(100_001);
  await accept(instance(), { projectId, keys: many });
  expect(await ask(filters, projectId, keysOf(100))).toBeNull();
  await filters.settled();
  expect(await ask(filters, projectId, many.slice(0, 100))).toEqual(all(100));
});

test("a filter that could not be brought up to date is given up", async () => {
  const projectId = newId("project");
  const filters = await built(projectId);
  const failing: Sql = { query: () => Promise.reject(new Error("too slow")), change: () => Promise.resolve(0) };
  const payout = { id: newId("payout"), projectId };
  await expect(candidatesOf(filters, failing, payout, keysOf(100))).rejects.toThrow("too slow");
  expect(await ask(filters, projectId, keysOf(100))).toBeNull();
  await filters.settled();
});

test("a clock of the database that went back ends a filter", async () => {
  const projectId = newId("project");
  const filters = await built(projectId);
  const back: Sql = {
    query: async (text, values) =>
      (await sql.query<never>(text, values)).map((row) => ({ ...(row as object), at: 0 }) as never),
    change: () => Promise.resolve(0),
  };
  const payout = { id: newId("payout"), projectId };
  expect(await candidatesOf(filters, back, payout, keysOf(100))).toBeNull();
  await filters.settled();
});

test("a key of a committed payout is never missed, while instances accept, fail, move keys, begin and crash at once", async () => {
  const projectId = newId("project");
  const instances = await Promise.all([built(projectId), built(projectId), built(projectId)]);
  const committed = new Set<string>();
  const asked: string[] = [];
  const counts = { searched: 0, spared: 0, missed: 0 };
  const chance = (share: number): boolean => Math.random() < share;
  const one = async (): Promise<void> => {
    const keys = all(100).map((index) => {
      const earlier = asked[Math.floor(Math.random() * asked.length)];
      return index % 2 === 0 && earlier !== undefined ? earlier : (keysOf(1)[0] ?? "");
    });
    asked.push(...keys);
    const filters = instances[Math.floor(Math.random() * instances.length)] ?? instance();
    const work = pool.rawTransaction(async (tx) => {
      const before = new Set(committed);
      const id = newId("payout");
      const candidates = await candidatesOf(filters, tx, { id, projectId }, keys);
      counts[candidates === null ? "searched" : "spared"] += 1;
      const found = new Set(candidates ?? all(100));
      counts.missed += keys.filter((key, index) => before.has(key) && !found.has(index)).length;
      await store(tx, { projectId, keys }, id);
      await tx.query("SELECT pg_sleep($1)", [Math.random() / 100]);
      if (chance(0.2)) throw new Error("rolled back");
    });
    await work.then(
      () => {
        for (const key of keys) committed.add(key);
      },
      (error: unknown) => expect(error).toMatchObject({ message: "rolled back" }),
    );
  };
  const lane = async (): Promise<void> => {
    for (let turn = 0; turn < 40; turn += 1) {
      await one();
      if (chance(0.1)) await indexNewKeys(sql);
      if (chance(0.02)) await sql.change("DELETE FROM server_life", []);
      if (chance(0.03)) instances[Math.floor(Math.random() * instances.length)] = instance();
    }
  };
  await Promise.all(all(8).map(lane));
  await Promise.all(instances.map((filters) => filters.settled()));
  expect(counts.missed).toBe(0);
  expect(counts.spared).toBeGreaterThan(100);
  expect(committed.size).toBeGreaterThan(1000);
});

import { afterAll, expect, test, vi } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { startPgProxy } from "@/lib/dev/testing/pg-proxy";
import { announce, sqlOf } from "./sql";
import { createDatabase } from "./client";
import { createListener } from "./listener";

const { url, database } = await testDatabase({ role: "owner" });
await database.pool.query("CREATE TABLE note (word text PRIMARY KEY)");

let notifications = 0;
const proxy = await startPgProxy(url, {
  watch: (stage, { sql }) => {
    if (stage === "before" && sql.startsWith("SELECT pg_notify")) notifications += 1;
    return "go";
  },
});
const here = createListener(proxy.url);
const there = createListener(url);
const own = createDatabase(url, { poolSize: 2, onAnnounced: here.tell });
afterAll(async () => {
  await Promise.all([here.close(), there.close(), own.close()]);
  await proxy.close();
});

const heardHere: string[] = [];
const heardThere: string[] = [];
here.on("note", (payload) => heardHere.push(payload));
there.on("note", (payload) => heardThere.push(payload));

/**
 * Resolves when an announcement has reached the other instance. Earlier announcements have reached
 * it by then.
 */
const untilConnected = async (): Promise<void> => {
  let probes = 0;
  await vi.waitFor(
    () => {
      here.tell([{ channel: "note", payload: `probe ${String((probes += 1))}` }]);
      expect(heardThere.some((payload) => payload.startsWith("probe"))).toBe(true);
    },
    { timeout: 20_000, interval: 100 },
  );
};

const add = (word: string, announced: string): Promise<number> =>
  own.rawTransaction(async (sql) => {
    announce(sql, { channel: "note", payload: announced });
    return sql.change("INSERT INTO note VALUES ($1)", [word]);
  });

test("no transaction of ours notifies: no function in the database does", async () => {
  const { rows } = await database.pool.query(
    `SELECT proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE nspname = 'public' AND prosrc ILIKE '%notify%'`,
  );
  expect(rows).toEqual([]);
});

test("what a transaction announces reaches this instance and the others after its commit, and nothing of one that failed", async () => {
  await untilConnected();
  await add("one", "stored");
  await expect(add("one", "refused")).rejects.toMatchObject({ code: "23505" });
  await own.transaction((tx) => {
    announce(tx, { channel: "note", payload: "by Prisma" });
    return tx.$executeRaw`INSERT INTO note VALUES ('two')`;
  });
  await add("three", "last");
  await vi.waitFor(() => expect(heardThere).toContain("last"), { timeout: 20_000 });
  const words = (heard: readonly string[]): string[] =>
    heard.filter((payload) => !payload.startsWith("probe"));
  expect(words(heardHere)).toEqual(["stored", "by Prisma", "last"]);
  expect(words(heardThere)).toEqual(["stored", "by Prisma", "last"]);
});

test("a hundred changes are told to the other instances with one statement", async () => {
  await untilConnected();
  const before = notifications;
  for (let number = 1; number <= 100; number += 1)
    here.tell([{ channel: "note", payload: `many ${String(number)}` }]);
  await vi.waitFor(
    () => expect(heardThere.filter((each) => each.startsWith("many"))).toHaveLength(100),
    {
      timeout: 20_000,
    },
  );
  // At most two, because the notification of the previous probe may still arrive.
  expect(notifications - before).toBeLessThanOrEqual(2);
});

test("an instance that does not listen hears itself, and connects to nothing", async () => {
  const alone = createListener(null);
  const heard: string[] = [];
  alone.on("note", (payload) => heard.push(payload));
  alone.tell([{ channel: "note", payload: "mine" }]);
  await vi.waitFor(() => expect(heard).toEqual(["mine"]), 20_000);
  expect(heardThere).not.toContain("mine");
  await alone.close();
});

test("a channel that is added while an instance connects is listened to", async () => {
  const heard: string[] = [];
  const during = await startPgProxy(url, {
    watch: (stage, { sql }) => {
      if (stage === "before" && sql.startsWith("LISTEN first"))
        late.on("second", (payload) => heard.push(payload));
      return "go";
    },
  });
  const late = createListener(during.url);
  late.on("first", () => undefined);
  await vi.waitFor(
    () => {
      there.tell([{ channel: "second", payload: "x" }]);
      expect(heard).not.toEqual([]);
    },
    { timeout: 20_000, interval: 100 },
  );
  await late.close();
  await during.close();
});

test("a local announcement reaches this instance alone", async () => {
  await untilConnected();
  await own.rawTransaction(async (sql) => {
    announce(sql, { channel: "note", payload: "for us", isLocal: true });
    return sql.change("INSERT INTO note VALUES ($1)", ["local"]);
  });
  await add("after the local one", "for all");
  await vi.waitFor(() => expect(heardThere).toContain("for all"), { timeout: 20_000 });
  expect(heardHere).toContain("for us");
  expect(heardThere).not.toContain("for us");
});

test("what is announced on the statements of a transaction of Prisma's is announced on the transaction", async () => {
  await own.transaction(async (tx) => {
    const sql = sqlOf(tx);
    announce(sql, { channel: "note", payload: "by its statements" });
    await sql.change("INSERT INTO note VALUES ($1)", ["by its statements"]);
  });
  await vi.waitFor(() => expect(heardHere).toContain("by its statements"), { timeout: 20_000 });
});

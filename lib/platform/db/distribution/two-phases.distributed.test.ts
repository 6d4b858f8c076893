/**
 * A transaction that changes rows of the coordinator and of one node commits in two phases, so that
 * neither change can exist without the other.
 */
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { createLedgerRepository } from "@/lib/books/ledger/repository";
import { testDatabase } from "@/lib/dev/testing/database";

const { database, url } = await testDatabase();
const ledger = createLedgerRepository(url);
const projectId = newId("project");
let notices: string[] = [];

const listen = (client: pg.PoolClient): void => {
  client.on("notice", ({ message }) => notices.push(message ?? ""));
};

beforeAll(() => {
  database.pool.on("connect", listen);
  ledger.pool.on("connect", listen);
});
afterAll(() => ledger.close());

/**
 * Changes one row of the coordinator and one of the project's node, with the kind of statement
 * after which Citus would commit on the node first.
 */
const changeBoth = async (sql: SqlReader, log: SqlReader = sql): Promise<void> => {
  await log.query(
    "SELECT set_config('citus.log_remote_commands', 'on', true), set_config('client_min_messages', 'notice', true)",
    [],
  );
  await sql.query("INSERT INTO periodic_task (name, due_at) VALUES ($1, now())", [
    newId("event"),
  ]);
  await sql.query(
    "INSERT INTO event_counter (project_id, last_sequence) VALUES ($1, 1) ON CONFLICT (project_id) DO NOTHING",
    [projectId],
  );
};

const sent = (command: string): number =>
  notices.filter((notice) => notice.includes(`issuing ${command}`)).length;

test.each([
  ["of the raw pool", () => database.rawTransaction((sql) => changeBoth(sql))],
  ["of Prisma", () => database.transaction((tx) => changeBoth(sqlOf(tx)))],
  [
    "of the ledger, with rows of its caller",
    () => ledger.inTransaction((tx) => tx.asApp((sql) => changeBoth(sql))),
  ],
])("a transaction %s", async (_, run) => {
  notices = [];
  await run();
  expect({ prepared: sent("PREPARE TRANSACTION"), before: sent("COMMIT\n") }).toEqual({
    prepared: 1,
    before: 0,
  });
});

test("a transaction that changes nothing on a node asks no node", async () => {
  notices = [];
  await database.rawTransaction(async (sql) => {
    await sql.query("SELECT set_config('citus.log_remote_commands', 'on', true)", []);
    await sql.query("INSERT INTO periodic_task (name, due_at) VALUES ($1, now())", [
      newId("event"),
    ]);
  });
  expect(notices).toEqual([]);
});

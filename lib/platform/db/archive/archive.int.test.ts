import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";
import { sweepExpired } from "@/lib/platform/db/sweep";
import { archivedMonth, MONTH } from "@/lib/dev/testing/archived-month";
import { testLedger } from "@/lib/dev/testing/ledger";
import { archiveMonth, checkMonth, restoreMonth } from "./archive";

/** Number of ended operations in the month. It gives more rows than fit into one batch. */
const ENDED = 700;
const LAST = ENDED * 3;
const AGES = {
  ...{
    quotesDays: 30,
    codesDays: 90,
    rawTransactionsDays: 90,
    snapshotsDays: 400,
    apiRequestsDays: 30,
  },
  ...{ notificationsDays: 90, deliveriesDays: 30 },
};

const {
  url,
  database,
  pool,
  projectId,
  accountId,
  directory,
  request,
  rows,
  sequences,
  state,
} = await archivedMonth({
  ended: ENDED,
});
const { ledger, verify } = testLedger(url);
const before = await rows();
const period = { from: new Date("2026-01-01T00:00:00Z"), to: new Date("2026-02-01T00:00:00Z") };
const statement = () => ledger.statement(projectId, accountId, period);
const statementBefore = await statement();
const folder = `${directory}/${MONTH}`;
const file = (name: string): string => `${folder}/${name}`;

test("a month that is not closed is not archived, and neither is a text that is no month", async () => {
  const now = new Date();
  const current = `${String(now.getUTCFullYear())}-${String(now.getUTCMonth() + 1).padStart(2, "0")}`;
  await expect(archiveMonth({ ...request, month: current })).rejects.toThrow(
    "7 days after its end",
  );
  await expect(archiveMonth({ ...request, month: "2026-13" })).rejects.toThrow("is no month");
  expect(await rows()).toEqual(before);
});

test("what ended leaves the database; the newest event of each object, everything of what is under way, and the ledger stay", async () => {
  const moved = await archiveMonth(request);
  expect(
    Object.fromEntries(
      moved.map(({ table, rows: count, moved: removed }) => [table, [count, removed]]),
    ),
  ).toEqual({
    event: [LAST + 6, ENDED * 2 + 1],
    webhook_delivery: [3, 2],
    webhook_attempt: [3, 2],
    ledger_entry: [8, 0],
    ledger_transaction: [4, 0],
  });
  const newest = Array.from({ length: ENDED }, (_, index) => index * 3 + 3);
  // The remaining events: those of op_open and its transfer, one whose delivery waits, and one of a
  // later month.
  expect(await sequences()).toEqual([...newest, ...[1, 2, 3, 4, 5, 7].map((n) => LAST + n)]);
  const after = await rows();
  expect(after.webhook_delivery).toEqual([expect.stringContaining("dlv_2")]);
  expect([after.ledger_entry, after.ledger_transaction]).toEqual([
    before.ledger_entry,
    before.ledger_transaction,
  ]);
  expect(await state()).toBe("removed");
});

test("balances and statements over an archived month are what they were, and the ledger adds up", async () => {
  expect(await statement()).toEqual(statementBefore);
  expect(statementBefore).toMatchObject({
    closingBase: 90n,
    inBase: 100n,
    outBase: 10n,
    firstSeq: 1n,
    endSeq: 5n,
  });
  expect((await verify()).violations).toEqual([]);
  expect(await checkMonth(request)).toEqual([]);
});

test("the files are CSV that PostgreSQL reads itself, each row as it was stored", async () => {
  await pool.query("CREATE TABLE copied (LIKE event)");
  // A folder that the server can read, whatever user it runs as.
  const csv = join(tmpdir(), `${randomUUID()}.csv`);
  writeFileSync(csv, gunzipSync(readFileSync(file("event.csv.gz"))), { mode: 0o644 });
  await pool.query(`COPY copied FROM '${csv}' CSV`);
  rmSync(csv);
  const { rows: copied } = await pool.query<{ row: string }>(
    "SELECT c::text AS row FROM copied c ORDER BY 1",
  );
  const ofMonth = before.event?.filter((row) => !row.includes("evt_other_7"));
  expect(copied.map(({ row }) => row)).toEqual(ofMonth);
});

test("files that were changed are neither restored nor is anything removed with them", async () => {
  const kept = readFileSync(file("event.csv.gz"));
  const manifest = readFileSync(file("manifest.json"), "utf8");
  const after = await rows();
  const refused = async (text: string): Promise<void> => {
    await expect(restoreMonth(request)).rejects.toThrow(text);
    await expect(archiveMonth(request)).rejects.toThrow(text);
    expect([await rows(), await state()]).toEqual([after, "removed"]);
  };
  appendFileSync(file("event.csv.gz"), "x");
  await refused("event.csv.gz was changed");
  // A manifest whose hash was changed to match the damaged file is refused too.
  writeFileSync(
    file("manifest.json"),
    manifest.replace("operation", "Operation").replace('"rows"', '"rows" '),
  );
  await refused("its manifest differs");
  writeFileSync(file("manifest.json"), manifest);
  rmSync(file("event.csv.gz"));
  await refused("event.csv.gz is missing");
  writeFileSync(file("event.csv.gz"), kept);
  await expect(restoreMonth({ ...request, directory: `${directory}-other` })).rejects.toThrow(
    "holds no archive",
  );
});

test("a month comes back as it was, stays whatever the retention is, and can be archived again", async () => {
  await restoreMonth(request);
  expect([await rows(), await state()]).toEqual([before, "restored"]);
  await sweepExpired(database, AGES);
  expect(await rows()).toEqual(before);
  await archiveMonth(request);
  expect(await sequences()).toHaveLength(ENDED + 6);
  await restoreMonth(request);
  expect(await rows()).toEqual(before);
});

test("a row that changed after the files were written stays in the database", async () => {
  await pool.query("UPDATE webhook_delivery SET last_error = 'later' WHERE id = 'dlv_3'");
  await archiveMonth(request);
  const { webhook_delivery: left } = await rows();
  expect(left).toEqual([expect.stringContaining("dlv_2"), expect.stringContaining("dlv_3")]);
  await restoreMonth(request);
  expect((await rows()).webhook_delivery).toContainEqual(expect.stringContaining("later"));
});

test("an operation that ended since lets its events go with the next call", async () => {
  await archiveMonth(request);
  expect(await sequences()).toContain(LAST + 1);
  await pool.query("UPDATE operation SET status = 'completed' WHERE id = 'op_open'");
  await archiveMonth(request);
  const left = await sequences();
  expect([LAST + 1, LAST + 2, LAST + 3, LAST + 4].filter((n) => left.includes(n))).toEqual([
    LAST + 2,
    LAST + 4,
  ]);
});

test("a change in the ledger of an archived month is found with the files", async () => {
  // Distributed tables have no triggers, and Citus refuses the statement.
  if (inject("clusterUrl") === undefined)
    await pool.query("ALTER TABLE ledger_entry DISABLE TRIGGER ALL");
  await pool.query(
    "UPDATE ledger_entry SET amount = amount + 1 WHERE account_id = $1 AND seq = 2",
    [accountId.slice(3)],
  );
  expect(await checkMonth(request)).toEqual([
    "1 rows of ledger_entry are not in the database as they were.",
  ]);
});

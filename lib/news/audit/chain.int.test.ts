import { createHmac } from "node:crypto";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { createDatabase, type Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import { createSecrets } from "@/lib/platform/encryption/application-secret";
import { changeUnguarded, recordAuditRows } from "@/lib/dev/testing/audit-log";
import { testDatabase } from "@/lib/dev/testing/database";
import { asPlainOwner } from "@/lib/dev/testing/plain-owner";
import { createAuditLinker } from "./linker";
import { recordAudit } from "./service";
import type { SavedHeads } from "./rules";
import { type AuditReport, verifyAudit } from "./verify";

const SECRET = "dev_0123456789abcdef0123456789abcdef";
const secrets = createSecrets(SECRET);
const PROJECTS = [newId("project"), newId("project")] as const;
let url: string;
let database: Database;
const linkerOf = (on: Database, by = secrets) =>
  createAuditLinker({ database: on, secrets: by, clock: systemClock });
const verify = (saved: SavedHeads = {}, by = secrets): Promise<AuditReport> =>
  verifyAudit(sqlOn(database.pool), by, { saved });
const change = (text: string, values: readonly unknown[] = []): Promise<void> =>
  changeUnguarded(url, text, values);
const record = (
  count: number,
  projectId: string | null = PROJECTS[0],
  on: Database = database,
): Promise<string[]> => recordAuditRows(on, projectId, count);

beforeAll(async () => {
  ({ url, database } = await testDatabase());
});
beforeEach(async () => {
  await change(
    "TRUNCATE audit_event, audit_link, audit_head, audit_unlinked, audit_seal, audit_seal_head",
  );
});

/** Seven linked rows of one project, four of another, and one without a project. */
const linked = async (): Promise<{ ids: readonly string[]; heads: SavedHeads }> => {
  const ids = await record(7);
  await record(4, PROJECTS[1]);
  await record(1, null);
  await linkerOf(database).link();
  const report = await verify();
  expect(report).toMatchObject({ chains: 3, rows: 12, waiting: 0, violations: [] });
  return { ids, heads: report.heads };
};

test("an audit log that nobody touched is whole, and goes on being so as rows are added", async () => {
  const { heads } = await linked();
  await record(3);
  expect(await verify(heads)).toMatchObject({ rows: 12, waiting: 3, violations: [] });
  await linkerOf(database).link();
  expect(await verify(heads)).toMatchObject({ rows: 15, waiting: 0, violations: [] });
});

test.each([
  ["actor", "UPDATE audit_event SET actor = 'usr_2' WHERE id = $1"],
  ["data", `UPDATE audit_event SET data = jsonb_set(data, '{total}', '"2.5"') WHERE id = $1`],
  ["time", "UPDATE audit_event SET created_at = created_at + interval '1 ms' WHERE id = $1"],
  ["address", "UPDATE audit_event SET client_address = '203.0.113.9' WHERE id = $1"],
])("a row whose %s was changed is found, and named alone", async (_, text) => {
  const { ids } = await linked();
  await change(text, [ids[3]]);
  expect((await verify()).violations).toEqual([
    `${PROJECTS[0]}: row ${ids[3] ?? ""} of link 4 was changed or moved`,
  ]);
});

test("a row that was removed is found, with its link and without", async () => {
  const { ids } = await linked();
  await change("DELETE FROM audit_event WHERE id = $1", [ids[2]]);
  expect((await verify()).violations).toEqual([
    `${PROJECTS[0]}: row ${ids[2] ?? ""} of link 3 was removed`,
  ]);
  await change("DELETE FROM audit_link WHERE event_id = $1", [ids[2]]);
  expect((await verify()).violations).toEqual([`${PROJECTS[0]}: links 3 to 3 are missing`]);
});

test("a row that was moved to another project is found", async () => {
  const { ids } = await linked();
  await change("UPDATE audit_event SET project_id = $2 WHERE id = $1", [ids[2], PROJECTS[1]]);
  expect((await verify()).violations).toEqual([
    `${PROJECTS[0]}: row ${ids[2] ?? ""} of link 3 was moved to another project`,
  ]);
});

test("two rows that changed places are found", async () => {
  const { ids } = await linked();
  await change("UPDATE audit_link SET event_id = 'x' WHERE event_id = $1", [ids[1]]);
  await change("UPDATE audit_link SET event_id = $1 WHERE event_id = $2", [ids[1], ids[4]]);
  await change("UPDATE audit_link SET event_id = $1 WHERE event_id = 'x'", [ids[4]]);
  expect((await verify()).violations).toHaveLength(2);
});

const SEALED_LINK_IS_GONE = expect.stringMatching(
  /: link 7, which seal 1 of \S+ names, was removed$/,
) as string;

/**
 * Cuts off the end of the chain, as somebody could who controls the database but lacks the
 * application secret.
 */
const cutTail = async (ids: readonly string[]): Promise<void> => {
  const last = ids.slice(5);
  await change("DELETE FROM audit_event WHERE id = ANY($1)", [last]);
  await change("DELETE FROM audit_link WHERE event_id = ANY($1)", [last]);
};

test("the newest rows cannot be cut off: neither with the old head, nor with one of another secret", async () => {
  const { ids } = await linked();
  await cutTail(ids);
  expect((await verify()).violations).toEqual([
    `${PROJECTS[0]}: the chain ends at link 5, its head says 7`,
    SEALED_LINK_IS_GONE,
  ]);
  const mac = createHmac("sha256", "guess").update("").digest();
  await change(
    `UPDATE audit_head SET seq = 5, mac = $2, hash = (SELECT hash FROM audit_link WHERE chain = $1 AND seq = 5) WHERE chain = $1`,
    [PROJECTS[0], mac],
  );
  expect((await verify()).violations).toEqual([
    `${PROJECTS[0]}: the code of its head was not made with APP_SECRET or APP_SECRET_PREVIOUS`,
    SEALED_LINK_IS_GONE,
  ]);
});

test("new rows on a chain that was cut do not hide the cut", async () => {
  const { ids } = await linked();
  await cutTail(ids);
  await change(
    `UPDATE audit_head SET seq = 5, mac = 'guess', hash = (SELECT hash FROM audit_link WHERE chain = $1 AND seq = 5) WHERE chain = $1`,
    [PROJECTS[0]],
  );
  for (let turn = 0; turn < 2; turn += 1) {
    await record(3);
    await linkerOf(database).link();
    expect((await verify()).violations).toEqual([
      `${PROJECTS[0]}: the code of its head was not made with APP_SECRET or APP_SECRET_PREVIOUS`,
      expect.stringMatching(
        /: link 7 is not the one that seal 1 of \S+ names; the chain was made anew$/,
      ),
    ]);
  }
});

test("a log that was put back as it stood earlier, head and all, is found by the heads that were written down", async () => {
  const ids = await record(5);
  await linkerOf(database).link();
  const { rows: head } = await database.pool.query<object>("SELECT * FROM audit_head");
  ids.push(...(await record(2)));
  await linkerOf(database).link();
  const { heads } = await verify();
  await cutTail(ids);
  const { seq, hash, mac } = head[0] as { seq: string; hash: Buffer; mac: Buffer };
  await change("UPDATE audit_head SET seq = $1, hash = $2, mac = $3", [seq, hash, mac]);
  expect((await verify()).violations).toEqual([]);
  expect((await verify(heads)).violations).toEqual([
    `${PROJECTS[0]}: link 7 is not the one that was written down; the chain was made anew or cut`,
  ]);
  await change("TRUNCATE audit_event, audit_link, audit_head, audit_seal, audit_seal_head");
  expect((await verify(heads)).violations).toEqual([
    `${PROJECTS[0]}: the chain was removed`,
    "seals: seal 1 is not the one that was written down; seals were removed or made anew",
  ]);
});

test("two instances link what eight writers record at once: each row once, each chain without gaps", async () => {
  const others = [createDatabase(url, { poolSize: 4 }), createDatabase(url, { poolSize: 4 })];
  let writing = true;
  const linkAgain = async (on: Database): Promise<void> => {
    const linker = linkerOf(on);
    while (writing) await linker.link();
  };
  const linking = others.map(linkAgain);
  await Promise.all([
    ...linking,
    Promise.all(
      Array.from({ length: 8 }, (_, index) => record(15, PROJECTS[index % 2])),
    ).finally(() => (writing = false)),
  ]);
  await linkerOf(database).link();
  await Promise.all(others.map((other) => other.close()));
  expect(await verify()).toMatchObject({ chains: 2, rows: 120, waiting: 0, violations: [] });
});

test("a row of a transaction that was rolled back leaves nothing to link", async () => {
  const failing = database.transaction(async (tx) => {
    const entry = {
      projectId: PROJECTS[0],
      actor: "usr_1",
      action: "a.b",
      subject: null,
      at: new Date(),
    };
    await recordAudit(tx, { ...entry, request: null });
    throw new Error("refused");
  });
  await expect(failing).rejects.toThrow("refused");
  await linkerOf(database).link();
  expect(await verify()).toMatchObject({ chains: 0, rows: 0, waiting: 0, violations: [] });
});

test("rows that a process without the chain wrote are linked too; a row that stayed out is reported", async () => {
  const insert = (at: string): Promise<void> =>
    change(
      `INSERT INTO audit_event (id, project_id, actor, action, data, created_at) VALUES ($1, $2, 'usr_1', 'a.b', '{}', ${at})`,
      [newId("auditEvent"), PROJECTS[0]],
    );
  await insert("now() - interval '1 hour'");
  expect((await verify()).violations).toEqual([
    expect.stringMatching(/^row aud_\S+ has no link$/),
  ]);
  await linkerOf(database).link();
  expect(await verify()).toMatchObject({ rows: 1, violations: [] });
});

test("a changed application secret keeps the chains: heads get new codes, and the old secret is needed no longer", async () => {
  await linked();
  const NEXT = `${SECRET}x`;
  // Three heads and the seal.
  expect((await verify({}, createSecrets(NEXT))).violations).toHaveLength(4);
  await linkerOf(database, createSecrets(NEXT, SECRET)).link();
  expect((await verify({}, createSecrets(NEXT))).violations).toEqual([]);
});

test("an owner of the tables that is no superuser can add rows, and neither change nor remove them", () =>
  asPlainOwner(async (own) => {
    await record(2, PROJECTS[0], own);
    await linkerOf(own).link();
    for (const table of ["audit_event", "audit_link"])
      for (const text of [`DELETE FROM ${table}`, `TRUNCATE ${table}`])
        await expect(own.pool.query(text)).rejects.toThrow("permission denied");
    await expect(own.pool.query("UPDATE audit_event SET actor = 'x'")).rejects.toThrow(
      "permission denied",
    );
    await expect(own.pool.query("UPDATE audit_link SET seq = 9")).rejects.toThrow(
      "permission denied",
    );
    expect(await verifyAudit(sqlOn(own.pool), secrets)).toMatchObject({
      rows: 2,
      violations: [],
    });
  }));

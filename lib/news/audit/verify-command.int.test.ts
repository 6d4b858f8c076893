/** Runs the operator's command `npm run audit:verify` as a separate process. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { createSecrets } from "@/lib/platform/encryption/application-secret";
import { changeUnguarded, recordAuditRows } from "@/lib/dev/testing/audit-log";
import { testDatabase } from "@/lib/dev/testing/database";
import { entryFile } from "@/lib/dev/testing/entry";
import { createAuditLinker } from "./linker";

const ROOT = join(import.meta.dirname, "../../..");
const SECRET = "dev_0123456789abcdef0123456789abcdef";
const PROJECT = newId("project");
const { url, database } = await testDatabase();
const linker = createAuditLinker({
  database,
  secrets: createSecrets(SECRET),
  clock: systemClock,
});

const folder = mkdtempSync(join(tmpdir(), "causeway-audit-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const HEADS = join(folder, "heads.json");

const verify = (args: readonly string[] = [], secret = SECRET) =>
  spawnSync(process.execPath, [entryFile("causeway"), "audit:verify", ...args], {
    cwd: ROOT,
    encoding: "utf8",
    env: {
      ...{ PATH: dirname(process.execPath), NODE_ENV: "test", CAUSEWAY_DATA_DIR: folder },
      ...{ DATABASE_URL: url, APP_SECRET: secret },
    },
  });
const change = (text: string, values: readonly unknown[]): Promise<void> =>
  changeUnguarded(url, text, values);

/** Records linked rows. @returns their ids */
const linked = async (count: number): Promise<string[]> => {
  const rows = await recordAuditRows(database, PROJECT, count);
  await linker.link();
  return rows;
};

test("audit:verify exits with 0 for a whole log, and with 1 when a row was changed or the secret is another one", async () => {
  const [, changed = ""] = await linked(3);
  const whole = verify();
  expect([whole.status, whole.stderr]).toEqual([0, ""]);
  expect(whole.stdout).toMatch(
    /chains +1\nrows +3\nwaiting +0\nseals +1\nanchors +0\nThe audit log is whole/,
  );

  const other = verify([], `${SECRET}x`);
  expect([other.status, other.stdout]).toEqual([
    1,
    expect.stringContaining("The audit log was CHANGED"),
  ]);
  expect(other.stderr).toContain("was not made with APP_SECRET");

  await change("UPDATE audit_event SET actor = 'usr_2' WHERE id = $1", [changed]);
  const broken = verify();
  expect([broken.status, broken.stdout]).toEqual([
    1,
    expect.stringContaining("The audit log was CHANGED"),
  ]);
  expect(broken.stderr).toBe(
    `${PROJECT}: row ${changed} of link 2 was changed or moved\nNo seal shows until when the log is as it was recorded.\n`,
  );
  await change("UPDATE audit_event SET actor = 'usr_1' WHERE id = $1", [changed]);
  expect(verify().status).toBe(0);
});

test("audit:verify --since exits with 1 when the log was put back as it stood earlier, head and all", async () => {
  await linked(2);
  const { rows } = await database.pool.query<{ seq: string; hash: Buffer; mac: Buffer }>(
    "SELECT seq, hash, mac FROM audit_head WHERE chain = $1",
    [PROJECT],
  );
  const { seq = "", hash, mac } = rows[0] ?? {};
  const later = await linked(2);
  expect(verify(["--save", HEADS]).status).toBe(0);
  expect(verify(["--since", HEADS]).status).toBe(0);

  await change("DELETE FROM audit_event WHERE id = ANY($1)", [later]);
  await change("DELETE FROM audit_link WHERE event_id = ANY($1)", [later]);
  await change("UPDATE audit_head SET seq = $2, hash = $3, mac = $4 WHERE chain = $1", [
    PROJECT,
    seq,
    hash,
    mac,
  ]);
  expect(verify().status).toBe(0);
  const since = verify(["--since", HEADS]);
  expect([since.status, since.stdout]).toEqual([
    1,
    expect.stringContaining("The audit log was CHANGED"),
  ]);
  expect(since.stderr).toContain("is not the one that was written down");
});

test("audit:verify exits with 1 when a project's whole history was removed, its head included, and says until when everything fits", async () => {
  const other = newId("project");
  await recordAuditRows(database, other, 3);
  const sealing = createAuditLinker({
    database,
    secrets: createSecrets(SECRET),
    clock: systemClock,
    sealEveryMs: 0,
  });
  await sealing.link();
  expect(verify().status).toBe(0);
  await change("DELETE FROM audit_event WHERE project_id = $1", [other]);
  await change("DELETE FROM audit_link WHERE chain = $1", [other]);
  await change("DELETE FROM audit_head WHERE chain = $1", [other]);
  const removed = verify();
  expect([removed.status, removed.stdout]).toEqual([
    1,
    expect.stringContaining("The audit log was CHANGED"),
  ]);
  expect(removed.stderr).toMatch(/: link 3, which seal 2 of 20\S+Z names, was removed\n/);
  expect(removed.stderr).toMatch(
    /Everything fits until seal 1 of 20\S+Z; later history was changed or removed\./,
  );
});

test("audit:verify exits with 2 when an anchor is no hash of a transaction", () => {
  const wrong = verify(["--anchor", "8453:0x12"]);
  expect([wrong.status, wrong.stderr]).toEqual([
    2,
    expect.stringContaining("--anchor takes the id of a chain"),
  ]);
});

test("audit:verify exits with 1 when the heads that were written down cannot be read", () => {
  const missing = verify(["--since", join(folder, "none.json")]);
  expect([missing.status, missing.stdout]).toEqual([1, ""]);
  expect(missing.stderr).toContain("none.json");
});

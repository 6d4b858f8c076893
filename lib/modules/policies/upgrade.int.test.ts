import { cpSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { createDatabase } from "@/lib/db/client";
import { migrateDeploy } from "@/lib/db/migrate";
import { createSecrets } from "@/lib/modules/encryption/application-secret";
import { emptyDatabase } from "@/lib/testing/database";
import { makeWorkspace } from "@/lib/testing/workspace";
import { createPolicyEngine } from "./engine";
import { createPolicyUpgrade } from "./upgrade";

const MIGRATIONS = join(import.meta.dirname, "../../../prisma/migrations");
const BEFORE = "20261124110000_decisions";
const workspace = await makeWorkspace();
afterAll(() => workspace.remove());

// Rows of the version before policies. The foreign key to the project is of no interest here.
const ACCEPTED_BEFORE = `
  SET session_replication_role = replica;
  INSERT INTO operation (id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, accepted_at,
    created_at, updated_at)
  SELECT id, 'prj_1', 'transfer', status, sub_status, '{}', '{}', 1, 'usr_1', '{}', CASE WHEN accepted THEN now() END, now(), now()
  FROM (VALUES ('op_queued', 'pending', 'prepared', true), ('op_sent', 'processing', 'source_submitted', true),
    ('op_waiting', 'pending', 'awaiting_approval', false), ('op_done', 'completed', 'full', true)) AS o (id, status, sub_status, accepted);
  INSERT INTO payout (id, project_id, kind, mode, status, sub_status, total_base, items_total, digest, created_by, created_at, updated_at)
  SELECT id, 'prj_1', 'wallets', 'independent', status, sub_status, 0, 1, '\\x00', 'usr_1', now(), now()
  FROM (VALUES ('po_due', 'pending', 'queued'), ('po_waiting', 'pending', 'awaiting_approval'), ('po_failed', 'failed', 'full'))
    AS p (id, status, sub_status)`;

const digest = new Uint8Array(32).fill(7);

test("what was accepted before policies existed and has not ended is evaluated once, by one of the instances", async () => {
  const { url } = await emptyDatabase();
  const earlier = mkdtempSync(join(workspace.folder, "migrations-"));
  for (const name of readdirSync(MIGRATIONS).filter((each) => each <= BEFORE))
    cpSync(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  await migrateDeploy(url, earlier);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const database = createDatabase(url);
  try {
    await pool.query(ACCEPTED_BEFORE);
    await migrateDeploy(url, MIGRATIONS);
    const { prisma } = database;
    const secrets = createSecrets("a secret of this test, long enough for one");
    const errors: unknown[] = [];
    const upgrade = () =>
      createPolicyUpgrade({
        ...{ database, secrets, clock: systemClock },
        digestOf: ({ id }) => (id === "op_sent" ? Promise.reject(new Error("not readable")) : Promise.resolve(digest)),
        log: { error: (fields) => void errors.push(fields) },
      });
    await Promise.all([upgrade()(), upgrade()(), upgrade()()]);
    const made = await prisma.policyEvaluation.findMany({ orderBy: { subjectId: "asc" } });
    expect(made.map(({ subjectId, createdBy }) => [subjectId, createdBy])).toEqual([
      ["op_queued", "upgrade"],
      ["po_due", "upgrade"],
    ]);
    expect(errors).toHaveLength(3);
    const engine = createPolicyEngine({
      ...{ database, secrets, clock: systemClock },
      prices: { highestPriceUsd: () => Promise.resolve([]) },
      approvals: { approvedBy: () => Promise.resolve(null) },
    });
    const { evaluationId } = await prisma.operation.findUniqueOrThrow({ where: { id: "op_queued" } });
    expect(await engine.isAllowed("prj_1", evaluationId, { id: "op_queued", digest })).toBe(true);
    expect(await engine.isAllowed("prj_1", evaluationId, { id: "po_due", digest })).toBe(false);
    const changed = new Uint8Array(32).fill(8);
    expect(await engine.isAllowed("prj_1", evaluationId, { id: "op_queued", digest: changed })).toBe(false);
    const without = await prisma.operation.findMany({ where: { evaluationId: null }, orderBy: { id: "asc" } });
    expect(without.map(({ id }) => id)).toEqual(["op_done", "op_sent", "op_waiting"]);
    // Nobody gets a second evaluation by taking the first one away.
    await prisma.operation.update({ where: { id: "op_queued" }, data: { evaluationId: null } });
    await upgrade()();
    expect((await prisma.operation.findUniqueOrThrow({ where: { id: "op_queued" } })).evaluationId).toBeNull();
    expect(await prisma.policyEvaluation.count()).toBe(2);
  } finally {
    await database.close();
    await pool.end();
  }
});

test("nothing can be added to what the migration has listed", async () => {
  const { url } = await emptyDatabase();
  await migrateDeploy(url, MIGRATIONS);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const granted = `SELECT privilege_type FROM information_schema.table_privileges
    WHERE table_name = 'policy_upgrade' AND privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')`;
  expect((await pool.query(granted)).rows).toEqual([]);
  await pool.end();
});

/** Runs the SQL of the documents as an administrator, on a separate server. */
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { startEmbeddedPostgres } from "@/lib/stack/postgres/embedded-postgres";
import { afterFile } from "@/lib/dev/testing/after-file";
import { allFences, placeOf } from "@/lib/dev/testing/documents";
import { makeWorkspace } from "@/lib/dev/testing/workspace";

/** Documents whose SQL needs more than PostgreSQL. */
const NEEDS_CITUS = new Set(["docs/scale.md"]);

const statementsOf = (text: string): string[] =>
  text
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");

test("the statements for roles and limits run one after the other, and make the role of the service", async () => {
  const { folder, remove } = await makeWorkspace();
  const server = await startEmbeddedPostgres({ dataDir: join(folder, "postgres") });
  afterFile(async () => {
    await server.stop();
    remove();
  });
  const client = new pg.Client({ connectionString: server.url("postgres") });
  await client.connect();
  try {
    const fences = allFences().filter(
      ({ file, language }) => language === "sql" && !NEEDS_CITUS.has(file),
    );
    expect(fences.length).toBeGreaterThanOrEqual(2);
    for (const fence of fences)
      for (const statement of statementsOf(fence.text))
        await client.query(statement).catch((cause: unknown) => {
          throw new Error(`${placeOf(fence)} cannot be run: ${statement}`, { cause });
        });
    const { rows } = await client.query<{ rolsuper: boolean; rolconfig: string[] }>(
      "SELECT rolsuper, rolconfig FROM pg_roles WHERE rolname = 'causeway_app'",
    );
    expect(rows).toEqual([
      { rolsuper: false, rolconfig: expect.arrayContaining(["lock_timeout=12s"]) as unknown },
    ]);
  } finally {
    await client.end();
  }
});

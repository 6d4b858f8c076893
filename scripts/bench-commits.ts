/**
 * `npx tsx scripts/bench-commits.ts`: commits per second of 16 writers without notifications, with announcements after the commit, and
 * with NOTIFY inside the transaction; and the rows per second that a sweep deletes. A benchmark, not a test.
 */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { announce } from "../lib/db/announcements";
import { createDatabase, type Database } from "../lib/db/client";
import { createListener } from "../lib/db/listener";
import { migrateDeploy } from "../lib/db/migrate";
import { sweepExpired } from "../lib/db/sweep";
import { startEmbeddedPostgres } from "../lib/stack/postgres/embedded-postgres";
import { makeWorkspace } from "../lib/testing/workspace";

const WRITERS = 16;
const MEASURE_MS = 4_000;
const ROUNDS = 3;
const EXPIRED = 300_000;
const AGES = { quotesDays: 30, codesDays: 90, rawTransactionsDays: 90, snapshotsDays: 400 };
const MIGRATIONS = fileURLToPath(new URL("../prisma/migrations", import.meta.url));
const INSERT = "INSERT INTO job (id, queue, run_at) VALUES ($1, 'bench', now())";

type Kind = "none" | "announced" | "in the transaction";

const writeOne = (database: Database, kind: Kind): Promise<number> =>
  database.rawTransaction(async (sql) => {
    const id = randomUUID();
    if (kind === "announced") {
      announce(sql, { channel: "job", payload: "bench" });
      announce(sql, { channel: "operation_event", payload: id });
    }
    if (kind === "in the transaction") await sql.query("SELECT pg_notify('operation_event', $1)", [id]);
    return sql.change(INSERT, [id]);
  });

const commitsPerSecond = async (database: Database, kind: Kind): Promise<number> => {
  const until = performance.now() + MEASURE_MS;
  let commits = 0;
  const write = async (): Promise<void> => {
    while (performance.now() < until) {
      await writeOne(database, kind);
      commits += 1;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return Math.round((commits / MEASURE_MS) * 1000);
};

const sweptPerSecond = async (database: Database): Promise<number> => {
  await database.pool.query(
    `INSERT INTO idempotency_key (project_id, actor, route, key, digest, status, created_at, locked_until, expires_at)
     SELECT 'prj', 'usr', 'r', 'key ' || n, ''::bytea, 'done', now(), now(), now() - interval '1 s' FROM generate_series(1, $1::int) AS n`,
    [EXPIRED],
  );
  const from = performance.now();
  await sweepExpired(database, AGES);
  return Math.round((EXPIRED / (performance.now() - from)) * 1000);
};

const workspace = await makeWorkspace();
const postgres = await startEmbeddedPostgres({ dataDir: `${workspace.folder}/postgres`, durability: "full" });
const url = postgres.url("bench");
await postgres.ensureDatabase("bench");
await migrateDeploy(url, MIGRATIONS);
const [here, there] = [createListener(url), createListener(url)];
there.on("operation_event", () => undefined);
const database = createDatabase(url, { poolSize: WRITERS, onAnnounced: here.tell });
for (let round = 1; round <= ROUNDS; round += 1)
  for (const kind of ["none", "announced", "in the transaction"] as const)
    console.log(`commits/s, notifications ${kind}: ${String(await commitsPerSecond(database, kind))}`);
console.log(`rows swept/s: ${String(await sweptPerSecond(database))}`);
await Promise.all([here.close(), there.close(), database.close()]);
await postgres.stop();
workspace.remove();

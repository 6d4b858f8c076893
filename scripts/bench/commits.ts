/**
 * `npm run bench commits`: measures the commits per second of 16 writers without notifications,
 * with announcements after the commit, and with NOTIFY inside the transaction. Also measures the
 * rows per second that a sweep deletes. A benchmark, not a test.
 */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { announce } from "../../lib/platform/db/sql";
import { createDatabase, type Database } from "../../lib/platform/db/client";
import { createListener } from "../../lib/platform/db/listener";
import { migrateDeploy } from "../../lib/platform/db/migrate";
import { sweepExpired } from "../../lib/platform/db/sweep";
import { startEmbeddedPostgres } from "../../lib/stack/postgres/embedded-postgres";
import { makeWorkspace } from "../../lib/dev/testing/workspace";
import { median } from "./harness";

const WRITERS = 16;
const MEASURE_MS = 4_000;
const ROUNDS = 3;
const EXPIRED = 300_000;
const AGES = {
  quotesDays: 30,
  codesDays: 90,
  rawTransactionsDays: 90,
  snapshotsDays: 400,
  apiRequestsDays: 30,
  notificationsDays: 90,
  deliveriesDays: 30,
};
const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));
const INSERT = "INSERT INTO job (id, queue, run_at) VALUES ($1, 'bench', now())";

type Kind = "none" | "announced" | "in the transaction";

const writeOne = (database: Database, kind: Kind): Promise<number> =>
  database.rawTransaction(async (sql) => {
    const id = randomUUID();
    if (kind === "announced") {
      announce(sql, { channel: "job", payload: "bench" });
      announce(sql, { channel: "operation_event", payload: id });
    }
    if (kind === "in the transaction")
      await sql.query("SELECT pg_notify('operation_event', $1)", [id]);
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

export interface CommitFigures {
  readonly perSecond: Readonly<Record<Kind, number>>;
  /**
   * Commits per second with announcements, divided by commits per second without notifications: the
   * median over rounds. A round measures one directly after the other.
   */
  readonly announcedRatio: number;
}

/**
 * Measures the commits of 16 writers on a PostgreSQL that writes each commit to disk. The kinds
 * take turns, so that a busy machine affects all of them.
 */
export const benchCommits = async (database: Database): Promise<CommitFigures> => {
  const rounds: Record<Kind, number>[] = [];
  for (let round = 1; round <= ROUNDS; round += 1)
    rounds.push({
      none: await commitsPerSecond(database, "none"),
      announced: await commitsPerSecond(database, "announced"),
      "in the transaction": await commitsPerSecond(database, "in the transaction"),
    });
  const of = (kind: Kind): number => median(rounds.map((round) => round[kind]));
  return {
    perSecond: {
      none: of("none"),
      announced: of("announced"),
      "in the transaction": of("in the transaction"),
    },
    announcedRatio: median(rounds.map(({ none, announced }) => announced / none)),
  };
};

/**
 * Runs `work` on a separate PostgreSQL, with two connections that listen for notifications as two
 * instances would.
 */
export const withCommitDatabase = async <T>(
  work: (database: Database) => Promise<T>,
): Promise<T> => {
  const workspace = await makeWorkspace();
  const postgres = await startEmbeddedPostgres({
    dataDir: `${workspace.folder}/postgres`,
    durability: "full",
  });
  try {
    const url = postgres.url("bench");
    await postgres.ensureDatabase("bench");
    await migrateDeploy(url, MIGRATIONS);
    const [here, there] = [createListener(url), createListener(url)];
    there.on("operation_event", () => undefined);
    const database = createDatabase(url, { poolSize: WRITERS, onAnnounced: here.tell });
    try {
      return await work(database);
    } finally {
      await Promise.all([here.close(), there.close(), database.close()]);
    }
  } finally {
    await postgres.stop();
    workspace.remove();
  }
};

export const run = (): Promise<void> =>
  withCommitDatabase(async (database) => {
    const { perSecond, announcedRatio } = await benchCommits(database);
    console.table(perSecond);
    console.log(`commits/s with notifications ÷ without: ${announcedRatio.toFixed(2)}`);
    console.log(`rows swept/s: ${String(await sweptPerSecond(database))}`);
  });

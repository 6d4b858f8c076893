import pg from "pg";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectionOf, MIGRATION_LIMITS } from "./pool";
import { grantAppRole, requireOwner } from "./roles/app-role";

const VERSION_MIN = 15;

export const serverVersionFault = async (
  client: Pick<pg.ClientBase, "query">,
): Promise<string | null> => {
  const { rows } = await client.query<{ number: number; version: string }>(
    "SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version",
  );
  const [row] = rows;
  return row !== undefined && row.number < VERSION_MIN * 10_000
    ? `PostgreSQL ${String(VERSION_MIN)} or newer is needed, and DATABASE_URL names version ${row.version}`
    : null;
};

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

interface AppliedRow {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

/**
 * Thrown for a database that an earlier, unreleased version created. It has migrations that this
 * version does not know, and lacks some migrations of this version. The database stays unchanged.
 * A database of a later version has all migrations of this version, and is accepted.
 */
export class EarlierVersionError extends Error {
  /** @param advice how to start with another database, as the end of a sentence */
  constructor(advice = "let DATABASE_URL name an empty database") {
    super(
      `An earlier, unreleased version of Causeway made this database, and this version cannot read it: ${advice}.`,
    );
    this.name = "EarlierVersionError";
  }
}

// The key of Prisma's own advisory lock, so that its CLI and this code never migrate at the same
// time.
const ADVISORY_LOCK = 72_707_369;
const CONNECT_TIMEOUT_MS = 30_000;
const LOCK_POLL_MS = 100;
/**
 * PostgreSQL's error code for a statement that cannot run inside a transaction, such as CREATE
 * INDEX CONCURRENTLY.
 */
const ACTIVE_SQL_TRANSACTION = "25001";
/** PostgreSQL's error code for a block that commits its work step by step inside a transaction. */
const INVALID_TRANSACTION_TERMINATION = "2D000";
const OUTSIDE: ReadonlySet<string> = new Set([
  ACTIVE_SQL_TRANSACTION,
  INVALID_TRANSACTION_TERMINATION,
]);

const HAS_TABLE = "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS has";
const TABLE = `CREATE TABLE _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

const readMigrations = (folder: string): Migration[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "migration.sql")),
    )
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });

/**
 * The migrations that are not applied yet.
 * @throws EarlierVersionError
 * @throws Error when a migration was edited after it ran, or failed half-way earlier
 */
const pending = (
  migrations: readonly Migration[],
  applied: readonly AppliedRow[],
): Migration[] => {
  const checksums = new Map(applied.map((row) => [row.migration_name, row.checksum]));
  const waiting = migrations.filter(({ name }) => !checksums.has(name));
  const known = new Set(migrations.map(({ name }) => name));
  if (waiting.length > 0 && applied.some((row) => !known.has(row.migration_name)))
    throw new EarlierVersionError();
  const failed = applied.find((row) => row.finished_at === null);
  if (failed)
    throw new Error(
      `The migration ${failed.migration_name} failed earlier. Mend the database, then run \`npx prisma migrate resolve\`.`,
    );
  const edited = migrations.find(({ name, checksum }) => {
    const ran = checksums.get(name);
    return ran !== undefined && ran !== checksum;
  });
  if (edited)
    throw new Error(
      `The migration ${edited.name} was edited after it was applied. Restore the file and write a new migration instead.`,
    );
  return waiting;
};

const INSERT =
  "INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)";
const FINISH =
  "UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1";

const applyInTransaction = async (
  client: pg.Client,
  { name, sql, checksum }: Migration,
): Promise<void> => {
  const id = randomUUID();
  await client.query("BEGIN");
  try {
    await client.query(INSERT, [id, checksum, name]);
    await client.query(sql);
    await client.query(FINISH, [id]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
};

/**
 * Runs a migration outside of a transaction. Its row is inserted before the migration runs, as
 * Prisma does, so that the next run notices a migration that failed half-way.
 */
const applyOutside = async (
  client: pg.Client,
  { name, sql, checksum }: Migration,
): Promise<void> => {
  const id = randomUUID();
  await client.query(INSERT, [id, checksum, name]);
  try {
    await client.query(sql);
  } catch (error) {
    await client.query("UPDATE _prisma_migrations SET logs = $2 WHERE id = $1", [
      id,
      String(error),
    ]);
    throw error;
  }
  await client.query(FINISH, [id]);
};

const apply = async (client: pg.Client, migration: Migration): Promise<void> => {
  try {
    await applyInTransaction(client, migration).catch((error: unknown) => {
      if (error instanceof pg.DatabaseError && OUTSIDE.has(error.code ?? ""))
        return applyOutside(client, migration);
      throw error;
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The migration ${migration.name} failed: ${reason}`, { cause: error });
  }
};

/**
 * Polls for the lock. A statement that waits inside the server would hold a snapshot. CREATE INDEX
 * CONCURRENTLY of the process with the lock waits for the end of all snapshots, so the two would
 * wait forever.
 */
const takeLock = async (client: pg.Client): Promise<void> => {
  for (let waitedMs = 0; waitedMs < MIGRATION_LIMITS.lockMs; waitedMs += LOCK_POLL_MS) {
    const { rows } = await client.query<{ taken: boolean }>(
      "SELECT pg_try_advisory_lock($1) AS taken",
      [ADVISORY_LOCK],
    );
    if (rows[0]?.taken === true) return;
    await sleep(LOCK_POLL_MS);
  }
  throw new Error(
    "Another process has been migrating this database for long. Wait for it, then start again.",
  );
};

/**
 * Creates Prisma's migration table. A role without the right to create finds the existing table and
 * can read it.
 */
const requireTable = async (client: pg.Client): Promise<void> => {
  const [found] = (await client.query<{ has: boolean }>(HAS_TABLE)).rows;
  if (found?.has !== true) await client.query(TABLE);
};

export const roleOf = async (url: string): Promise<string> => {
  const client = new pg.Client({
    ...connectionOf(url, MIGRATION_LIMITS),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined); // The pending query reports the error.
  await client.connect();
  try {
    return (
      (await client.query<{ role: string }>("SELECT current_user AS role")).rows[0]?.role ?? ""
    );
  } finally {
    await client.end();
  }
};

/**
 * Applies the missing migrations, as `prisma migrate deploy` does (same table, checksums and lock),
 * without its CLI. Several processes may call it at the same time: one migrates, and the others
 * wait and find nothing to do.
 * @param appRole the role with which the service connects, when `url` names another role; `appRole`
 * gets the service's rights on the tables
 * @returns the names of the migrations applied now
 * @throws EarlierVersionError
 */
export const migrateDeploy = async (
  url: string,
  folder: string,
  appRole?: string,
): Promise<string[]> => {
  const migrations = readMigrations(folder);
  const client = new pg.Client({
    ...connectionOf(url, MIGRATION_LIMITS),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined); // The pending query reports the error.
  await client.connect();
  try {
    const fault = await serverVersionFault(client);
    if (fault !== null) throw new Error(fault);
    await takeLock(client);
    await client.query("SET client_min_messages = warning");
    await requireTable(client);
    const applied = await client.query<AppliedRow>(
      "SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL",
    );
    const waiting = pending(migrations, applied.rows);
    if (waiting.length > 0 && applied.rows.length > 0) await requireOwner(client);
    for (const migration of waiting) await apply(client, migration);
    if (appRole !== undefined) await grantAppRole(client, appRole);
    return waiting.map(({ name }) => name);
  } finally {
    await client.end(); // Ends the session, and with it the lock.
  }
};

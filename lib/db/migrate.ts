import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { connectionOf, MIGRATION_LIMITS } from "./limits";
import { serverVersionFault } from "./server-version";

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

// Prisma's own lock, so that its CLI and we never migrate at once.
const ADVISORY_LOCK = 72_707_369;
const CONNECT_TIMEOUT_MS = 30_000;
const LOCK_POLL_MS = 100;
/** Raised for statements that refuse to run inside a transaction, such as CREATE INDEX CONCURRENTLY. */
const ACTIVE_SQL_TRANSACTION = "25001";
/** Raised for a block that commits its work step by step. */
const INVALID_TRANSACTION_TERMINATION = "2D000";
const OUTSIDE: ReadonlySet<string> = new Set([ACTIVE_SQL_TRANSACTION, INVALID_TRANSACTION_TERMINATION]);

const TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

/** Earlier checksums of migrations that were changed after a release, without another result on the servers where they ran. */
const EARLIER_CHECKSUMS: Readonly<Record<string, string>> = {
  // PostgreSQL 15 refused this one.
  "20261121130000_ledger": "e0fe35312978ed47df71258f140f55984093c6a88b80d964ee8039ef6465fd1c",
};

const readMigrations = (folder: string): Migration[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "migration.sql")))
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });

/** The migrations that are not applied yet. @throws Error when one was edited after it ran, or failed half-way earlier */
const pending = (migrations: readonly Migration[], applied: readonly AppliedRow[]): Migration[] => {
  const failed = applied.find((row) => row.finished_at === null);
  if (failed)
    throw new Error(
      `The migration ${failed.migration_name} failed earlier. Mend the database, then run \`npx prisma migrate resolve\`.`,
    );
  const checksums = new Map(applied.map((row) => [row.migration_name, row.checksum]));
  const edited = migrations.find(({ name, checksum }) => {
    const known = checksums.get(name);
    return known !== undefined && known !== checksum && known !== EARLIER_CHECKSUMS[name];
  });
  if (edited)
    throw new Error(
      `The migration ${edited.name} was edited after it was applied. Restore the file and write a new migration instead.`,
    );
  return migrations.filter(({ name }) => !checksums.has(name));
};

const INSERT = "INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)";
const FINISH = "UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1";

const applyInTransaction = async (client: pg.Client, { name, sql, checksum }: Migration): Promise<void> => {
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

/** Inserts the row before the migration runs, as Prisma does, so that the next run notices a migration that failed half-way. */
const applyOutside = async (client: pg.Client, { name, sql, checksum }: Migration): Promise<void> => {
  const id = randomUUID();
  await client.query(INSERT, [id, checksum, name]);
  try {
    await client.query(sql);
  } catch (error) {
    await client.query("UPDATE _prisma_migrations SET logs = $2 WHERE id = $1", [id, String(error)]);
    throw error;
  }
  await client.query(FINISH, [id]);
};

const apply = async (client: pg.Client, migration: Migration): Promise<void> => {
  try {
    await applyInTransaction(client, migration).catch((error: unknown) => {
      if (error instanceof pg.DatabaseError && OUTSIDE.has(error.code ?? "")) return applyOutside(client, migration);
      throw error;
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The migration ${migration.name} failed: ${reason}`, { cause: error });
  }
};

/**
 * Waits for the lock by asking for it again and again. A statement that waits inside the server would keep a snapshot, for whose end
 * CREATE INDEX CONCURRENTLY of the process that has the lock would wait, and the two would never end.
 */
const takeLock = async (client: pg.Client): Promise<void> => {
  for (let waitedMs = 0; waitedMs < MIGRATION_LIMITS.lockMs; waitedMs += LOCK_POLL_MS) {
    const { rows } = await client.query<{ taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [
      ADVISORY_LOCK,
    ]);
    if (rows[0]?.taken === true) return;
    await sleep(LOCK_POLL_MS);
  }
  throw new Error("Another process has been migrating this database for long. Wait for it, then start again.");
};

/**
 * Applies the migrations that are not applied yet, as `prisma migrate deploy` does (same table, checksums and lock), without its CLI.
 * Several processes may call it at once: one migrates, the others wait and find nothing to do.
 * @returns the names of those applied now
 */
export const migrateDeploy = async (url: string, folder: string): Promise<string[]> => {
  const migrations = readMigrations(folder);
  const client = new pg.Client({
    ...connectionOf(url, MIGRATION_LIMITS),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined); // The query that waits reports it.
  await client.connect();
  try {
    const fault = await serverVersionFault(client);
    if (fault !== null) throw new Error(fault);
    await takeLock(client);
    await client.query("SET client_min_messages = warning");
    await client.query(TABLE);
    const applied = await client.query<AppliedRow>(
      "SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL",
    );
    const waiting = pending(migrations, applied.rows);
    for (const migration of waiting) await apply(client, migration);
    return waiting.map(({ name }) => name);
  } finally {
    await client.end(); // Ends the session, and with it the lock.
  }
};

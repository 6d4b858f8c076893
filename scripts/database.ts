import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadConfig, type Config } from "../lib/platform/config/env";
import { startEmbeddedPostgres } from "../lib/stack/postgres/embedded-postgres";
import { developmentSecrets } from "../lib/stack/secrets";

export const DATABASE = "causeway";

interface Source {
  /** URL of the role that the service uses. */
  readonly url: string;
  /** URL of the role that owns the tables, for commands that change them. */
  readonly ownerUrl: string;
  stop(): Promise<unknown>;
}

/** Path of the folder where the stack keeps its data. */
export const dataDir = (): string => resolve(process.env.CAUSEWAY_DATA_DIR || ".data");

/**
 * Finds the database: the server of DATABASE_URL, or of DATABASE_DIRECT_URL, which goes past a
 * pooler. Without these variables it is the stack's own PostgreSQL, which is started when it does
 * not run and stopped by `stop`.
 */
export const findDatabase = async (): Promise<Source> => {
  const {
    DATABASE_URL: pooled,
    DATABASE_DIRECT_URL: direct,
    DATABASE_OWNER_URL: owner,
  } = process.env;
  // Commands connect without the pooler (PgBouncer): they open few connections, and they use
  // prepared statements, which a pooler does not keep.
  const url = pooled && direct && direct !== "none" ? direct : pooled;
  if (url) return { url, ownerUrl: owner || url, stop: () => Promise.resolve() };
  const folder = resolve(dataDir(), "postgres");
  if (!existsSync(`${folder}.json`))
    throw new Error(
      `There is no database at ${folder}. Start Causeway first, or set DATABASE_URL.`,
    );
  const postgres = await startEmbeddedPostgres({ dataDir: folder });
  await postgres.ensureAppRole();
  return {
    url: postgres.appUrl(DATABASE),
    ownerUrl: postgres.url(DATABASE),
    stop: () => (postgres.adopted ? Promise.resolve() : postgres.stop()),
  };
};

/**
 * Loads the service's configuration for this database. Outside of production it uses the secrets
 * that the stack has generated.
 */
export const configOf = (databaseUrl: string): Config => {
  const own =
    process.env.CAUSEWAY_ENV === "production"
      ? {}
      : developmentSecrets(join(dataDir(), "secrets.json"), process.env);
  return loadConfig({ ...process.env, ...own, DATABASE_URL: databaseUrl });
};

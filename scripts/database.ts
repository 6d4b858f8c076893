import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadConfig, type Config } from "../lib/config/env";
import { startEmbeddedPostgres } from "../lib/stack/postgres/embedded-postgres";
import { developmentSecrets } from "../lib/stack/secrets";

export const DATABASE = "causeway";

interface Source {
  readonly url: string;
  stop(): Promise<unknown>;
}

/** The folder of the stack's own data. */
export const dataDir = (): string => resolve(process.env.CAUSEWAY_DATA_DIR || ".data");

/** The server of DATABASE_URL, without the pooler where DATABASE_DIRECT_URL names a way past it; else the stack's own one, which is started for as long as this takes if it does not run. */
export const findDatabase = async (): Promise<Source> => {
  const { DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct } = process.env;
  // Commands go past a pooler (PgBouncer): they open few connections, and use named statements, which a pooler does not keep.
  const url = pooled && direct && direct !== "none" ? direct : pooled;
  if (url) return { url, stop: () => Promise.resolve() };
  const folder = resolve(dataDir(), "postgres");
  if (!existsSync(`${folder}.json`))
    throw new Error(`There is no database at ${folder}. Start Causeway first, or set DATABASE_URL.`);
  const postgres = await startEmbeddedPostgres({ dataDir: folder });
  return {
    url: postgres.url(DATABASE),
    stop: () => (postgres.adopted ? Promise.resolve() : postgres.stop()),
  };
};

/** The service's configuration for this database. A development stack has made its secrets itself. */
export const configOf = (databaseUrl: string): Config => {
  const own =
    process.env.CAUSEWAY_ENV === "production" ? {} : developmentSecrets(join(dataDir(), "secrets.json"), process.env);
  return loadConfig({ ...process.env, ...own, DATABASE_URL: databaseUrl });
};

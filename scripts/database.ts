import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { startEmbeddedPostgres } from "../lib/stack/postgres/embedded-postgres";

const DATABASE = "causeway";

interface Source {
  readonly url: string;
  stop(): Promise<unknown>;
}

/** The folder of the stack's own data. */
export const dataDir = (): string => resolve(process.env.CAUSEWAY_DATA_DIR || ".data");

/** The server of DATABASE_URL, without the pooler where DATABASE_DIRECT_URL names a way past it; else the stack's own one, which is started for as long as this takes if it does not run. */
export const findDatabase = async (): Promise<Source> => {
  const { DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct } = process.env;
  // A command opens few connections, and may keep statements on them.
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

/**
 * `npm run restore -- DIR [--to DATA_DIR]`: restores the stack's own PostgreSQL from a backup that
 * `npm run backup` made.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { restoreBackup } from "../lib/stack/postgres/restore";
import { DATABASE, dataDir } from "./database";
import { runCommand } from "./command";

const USAGE = "npm run restore -- DIR [--to DATA_DIR]";

const main = async (): Promise<void> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { to: { type: "string" } },
  });
  const [from, ...more] = positionals;
  if (from === undefined || more.length > 0) throw new Error(USAGE);
  const to = resolve(values.to ?? dataDir());
  const { startedAt } = await restoreBackup({
    from: resolve(from),
    dataDir: join(to, "postgres"),
    database: DATABASE,
  });
  console.log(`The backup of ${startedAt} is restored to ${to}. Signing is off.`);
  console.log(
    "Put secrets.json, or the variables with the same keys, beside it. Then start Causeway and run `npm run reconcile`.",
  );
};

await runCommand(main);

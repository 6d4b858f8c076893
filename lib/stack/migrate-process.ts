/** Brings the database up to date and ends: for deployments where no supervisor starts the service. */
import { join } from "node:path";
import { loadConfig } from "@/lib/config/env";
import { migrateDeploy } from "@/lib/db/migrate";
import { loggedError } from "@/lib/log/logger";

const MIGRATIONS = join("prisma", "migrations");

const main = async (): Promise<void> => {
  const { listenUrl, databaseUrl } = loadConfig();
  // A migration holds a lock of its session, which a pooler would not keep.
  const applied = await migrateDeploy(listenUrl ?? databaseUrl, join(process.cwd(), MIGRATIONS));
  process.stdout.write(`${String(applied.length)} migration(s) applied.\n`);
};

main().catch((error: unknown) => {
  process.stderr.write(`The database was not brought up to date: ${loggedError(error).message}\n`);
  process.exit(1);
});

/** Migrates the database and exits, for deployments where no supervisor starts the service. */
import { join } from "node:path";
import { loadDatabaseConfig } from "@/lib/platform/config/env";
import { migrateDeploy, roleOf } from "@/lib/platform/db/migrate";
import { loggedError } from "@/lib/platform/log/logger";

const MIGRATIONS = join("prisma", "migrations");

const main = async (): Promise<void> => {
  const { listenUrl, databaseUrl, databaseOwnerUrl } = loadDatabaseConfig();
  // A migration holds a session lock, which a pooler would not preserve.
  const directUrl = listenUrl ?? databaseUrl;
  const appRole = databaseOwnerUrl === null ? undefined : await roleOf(directUrl);
  const applied = await migrateDeploy(
    databaseOwnerUrl ?? directUrl,
    join(process.cwd(), MIGRATIONS),
    appRole,
  );
  process.stdout.write(`${String(applied.length)} migration(s) applied.\n`);
};

main().catch((error: unknown) => {
  process.stderr.write(
    `The database was not brought up to date: ${loggedError(error).message}\n`,
  );
  process.exit(1);
});

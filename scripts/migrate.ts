import { join } from "node:path";
import { loadDatabaseConfig } from "../lib/platform/config/database";
import { migrateDeploy, roleOf } from "../lib/platform/db/migrate";
import { loggedError } from "../lib/platform/log/logger";
import { defineCommand, NEEDS } from "./command";

const MIGRATIONS = join("prisma", "migrations");

const migrate = async (): Promise<readonly string[]> => {
  const { listenUrl, databaseUrl, databaseOwnerUrl } = loadDatabaseConfig();
  // A migration holds a session lock, which a pooler would not preserve.
  const directUrl = listenUrl ?? databaseUrl;
  const appRole = databaseOwnerUrl === null ? undefined : await roleOf(directUrl);
  return migrateDeploy(databaseOwnerUrl ?? directUrl, join(process.cwd(), MIGRATIONS), appRole);
};

export const command = defineCommand({
  options: {},
  environment: [
    "DATABASE_URL, and DATABASE_DIRECT_URL where a pooler is between: the role of the service",
    NEEDS.owner,
  ],
  run: async ({ output }) => {
    try {
      const applied = await migrate();
      output.say(`${String(applied.length)} migration(s) applied.`);
      return { isDone: true, result: { applied } };
    } catch (error) {
      throw new Error(
        `The database was not brought up to date: ${loggedError(error).message}`,
        {
          cause: error,
        },
      );
    }
  },
});

import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createDatabase, type Database } from "@/lib/platform/db/client";
import { migrateDeploy } from "@/lib/platform/db/migrate";
import { emptyDatabase } from "./database";

const MIGRATIONS = fileURLToPath(new URL("../../../prisma/migrations", import.meta.url));

/**
 * Calls `work` with a migrated database whose tables belong to a role without superuser rights.
 * The connections use this role too. Other tests use a superuser, which has every right whatever
 * the migrations revoke.
 */
export const asPlainOwner = async (
  work: (database: Database) => Promise<void>,
): Promise<void> => {
  const { url } = await emptyDatabase();
  const name = `plain_owner_${randomBytes(6).toString("hex")}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD 'dev' NOSUPERUSER`);
  await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${name}`);
  await admin.query(`GRANT ALL ON SCHEMA public TO ${name}`);
  const theirs = new URL(url);
  theirs.username = name;
  theirs.password = "dev";
  try {
    await migrateDeploy(theirs.href, MIGRATIONS);
    const database = createDatabase(theirs.href, { poolSize: 2 });
    try {
      await work(database);
    } finally {
      await database.close();
    }
  } finally {
    await admin.query(`DROP OWNED BY ${name} CASCADE`).catch(() => undefined);
    await admin.end();
  }
};

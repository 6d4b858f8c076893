/**
 * `npm run db:distribute`: distributes the largest tables over the nodes of a Citus cluster, and
 * prints on which node each table lies.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { distribute } from "../lib/platform/db/distribution/distribute";
import { findDatabase } from "./database";
import { runCommand } from "./command";

const MIGRATIONS = fileURLToPath(new URL("../prisma/migrations", import.meta.url));

const main = async (): Promise<void> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const source = await findDatabase();
  try {
    const { changed, placements } = await distribute(source.ownerUrl, MIGRATIONS);
    console.log(
      changed
        ? "The tables are distributed by project_id:"
        : "Nothing to do. The tables lie here:",
    );
    for (const { table, type, shards, size } of placements)
      console.log(
        `${table.padEnd(22)}${type.padEnd(13)}${String(shards).padStart(4)} shards  ${size}`,
      );
    console.log("All other tables are local to the coordinator.");
  } finally {
    await source.stop();
  }
};

await runCommand(main);

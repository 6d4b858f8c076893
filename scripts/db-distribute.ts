import { join } from "node:path";
import { distribute } from "../lib/platform/db/distribution/distribute";
import { defineCommand, NEEDS } from "./command";
import { findDatabase } from "./database";

const MIGRATIONS = join("prisma", "migrations");

export const command = defineCommand({
  options: {},
  environment: [NEEDS.database, NEEDS.owner],
  run: async ({ output }) => {
    const source = await findDatabase();
    try {
      const { changed, placements } = await distribute(
        source.ownerUrl,
        join(process.cwd(), MIGRATIONS),
      );
      output.say(
        changed
          ? "The tables are distributed by project_id:"
          : "Nothing to do. The tables lie here:",
      );
      for (const { table, type, shards, size } of placements)
        output.say(
          `${table.padEnd(22)}${type.padEnd(13)}${String(shards).padStart(4)} shards  ${size}`,
        );
      output.say("All other tables are local to the coordinator.");
      return { isDone: true, result: { changed, placements } };
    } finally {
      await source.stop();
    }
  },
});

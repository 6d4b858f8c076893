/**
 * `npm run jobs [-- resume <id>… | all]`: lists the jobs that were parked because they failed too
 * often, and queues them again.
 */
import { existsSync } from "node:fs";
import { systemClock } from "../lib/core/clock";
import { createDatabase } from "../lib/platform/db/client";
import { createParkedJobs } from "../lib/news/parked-jobs/service";
import { findDatabase } from "./database";
import { runCommand } from "./command";

const USAGE = "npm run jobs [-- resume <id>… | all]";

const main = async (): Promise<number> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const [command, ...names] = process.argv.slice(2);
  if (command !== undefined && (command !== "resume" || names.length === 0))
    throw new Error(USAGE);
  const source = await findDatabase();
  const database = createDatabase(source.url, { poolSize: 1 });
  try {
    const parked = createParkedJobs({ database, clock: systemClock });
    if (command === "resume") {
      const ids = names.includes("all") ? (await parked.all()).map(({ id }) => id) : names;
      const count = await parked.resumeAll(ids);
      console.log(`${String(count)} of ${String(ids.length)} jobs were put back.`);
      return count < ids.length ? 1 : 0;
    }
    const jobs = await parked.all();
    if (jobs.length === 0) console.log("No job is parked.");
    else
      console.table(
        jobs.map(({ parkedAt, ...job }) => ({ ...job, parkedAt: parkedAt.toISOString() })),
      );
    return 0;
  } finally {
    await database.close();
    await source.stop();
  }
};

await runCommand(main);

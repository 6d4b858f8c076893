/** `npm run jobs [-- resume <id>… | all]`: lists the jobs that failed too often to be tried again, and puts them back. */
import { existsSync } from "node:fs";
import { systemClock } from "../lib/core/clock";
import { createDatabase } from "../lib/db/client";
import { createParkedJobs } from "../lib/modules/jobs/parked-jobs";
import { findDatabase } from "./database";

const USAGE = "npm run jobs [-- resume <id>… | all]";

const main = async (): Promise<void> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const [command, ...names] = process.argv.slice(2);
  if (command !== undefined && (command !== "resume" || names.length === 0)) throw new Error(USAGE);
  const source = await findDatabase();
  const database = createDatabase(source.url, { poolSize: 1 });
  try {
    const parked = createParkedJobs({ database, clock: systemClock });
    if (command === "resume") {
      const ids = names.includes("all") ? (await parked.all()).map(({ id }) => id) : names;
      const count = await parked.resumeAll(ids);
      console.log(`${String(count)} of ${String(ids.length)} jobs were put back.`);
      if (count < ids.length) process.exitCode = 1;
      return;
    }
    const jobs = await parked.all();
    if (jobs.length === 0) console.log("No job is parked.");
    else console.table(jobs.map(({ parkedAt, ...job }) => ({ ...job, parkedAt: parkedAt.toISOString() })));
  } finally {
    await database.close();
    await source.stop();
  }
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

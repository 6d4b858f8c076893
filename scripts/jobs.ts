import { systemClock } from "../lib/core/clock";
import { createDatabase } from "../lib/platform/db/client";
import { createParkedJobs } from "../lib/news/parked-jobs/service";
import { defineCommand, NEEDS, UsageError } from "./command";
import { findDatabase } from "./database";

export const command = defineCommand({
  positionals: { text: "[resume ID… | resume all]", min: 0, max: Infinity },
  options: {},
  environment: [NEEDS.database],
  notDone: "a job to resume is not parked",
  run: async ({ positionals: [action, ...names], output }) => {
    if (action !== undefined && action !== "resume")
      throw new UsageError(`jobs cannot ${action}.`);
    if (action === "resume" && names.length === 0)
      throw new UsageError("Name the jobs to resume, or all.");
    const source = await findDatabase();
    const database = createDatabase(source.url, { poolSize: 1 });
    try {
      const parked = createParkedJobs({ database, clock: systemClock });
      if (action === "resume") {
        const ids = names.includes("all") ? (await parked.all()).map(({ id }) => id) : names;
        const resumed = await parked.resumeAll(ids);
        output.say(`${String(resumed)} of ${String(ids.length)} jobs were put back.`);
        return { isDone: resumed === ids.length, result: { resumed, requested: ids.length } };
      }
      const jobs = (await parked.all()).map(({ parkedAt, ...job }) => ({
        ...job,
        parkedAt: parkedAt.toISOString(),
      }));
      if (jobs.length === 0) output.say("No job is parked.");
      else output.table(jobs);
      return { isDone: true, result: { jobs } };
    } finally {
      await database.close();
      await source.stop();
    }
  },
});

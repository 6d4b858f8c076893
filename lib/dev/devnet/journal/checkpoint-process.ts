import { checkpointJob, DivergedError, makeCheckpoint } from "./checkpoint";

/*
 * Makes one checkpoint and ends. It is a separate process because a dump needs several times its
 * size in memory, and the process that serves the chains should stay small. The last argument is
 * the job, as JSON.
 */
const main = async (): Promise<void> => {
  try {
    const job: unknown = JSON.parse(process.argv.at(-1) ?? "");
    process.send?.({ checkpoint: await makeCheckpoint(checkpointJob.parse(job)) });
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    process.send?.({ failure, isDiverged: error instanceof DivergedError });
  }
  process.disconnect();
};

// Ends when the parent has ended, because only the parent commits the checkpoint.
process.once("disconnect", () => process.exit());
void main();

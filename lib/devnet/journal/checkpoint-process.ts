import { checkpointJob, DivergedError, makeCheckpoint } from "./checkpoint";

/*
 * Makes one checkpoint and ends. A process of its own: a dump passes through its memory several times over, and the process that
 * serves the chains stays small. Its last argument is the job, as JSON.
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

// The parent that would commit the checkpoint has ended.
process.once("disconnect", () => process.exit());
void main();

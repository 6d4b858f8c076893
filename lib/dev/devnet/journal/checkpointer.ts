import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { z } from "zod";
import { entryArguments } from "@/lib/platform/os/entry";
import { createKeyedQueue } from "@/lib/core/keyed-queue";
import { DivergedError, makeCheckpoint, type CheckpointJob } from "./checkpoint";
import type { Checkpoint } from "./chain-store";

/** Niceness of the processes that make checkpoints, because requests are more urgent. */
const NICENESS = 10;

const message = z.union([
  z.object({
    checkpoint: z.object({
      state: z.string(),
      segment: z.int(),
      pool: z.array(z.string()),
      clockOffset: z.int(),
    }),
  }),
  z.object({ failure: z.string(), isDiverged: z.boolean() }),
]);

/**
 * Makes a checkpoint.
 * @returns the checkpoint to commit
 * @throws DivergedError, Error
 */
type RunCheckpoint = (job: CheckpointJob) => Promise<Checkpoint>;

export interface Checkpointer {
  readonly run: RunCheckpoint;
  /** Ends running checkpoints. */
  stop(): void;
}

/**
 * Makes checkpoints in separate processes, except small ones. Checkpoints that start an extra node
 * run one at a time with low priority.
 */
export const createCheckpointer = (): Checkpointer => {
  const stopper = new AbortController();
  const starts = createKeyedQueue();
  const start = (job: CheckpointJob): Promise<Checkpoint> =>
    new Promise((resolve, reject) => {
      const args = [
        ...entryArguments(import.meta.url, "./checkpoint-process"),
        JSON.stringify(job),
      ];
      const child = spawn(process.execPath, args, {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
        signal: stopper.signal,
        killSignal: "SIGKILL",
      });
      if (child.pid !== undefined && job.livePort === null) setPriority(child.pid, NICENESS);
      child.once("error", reject);
      child.on("message", (raw) => {
        const said = message.parse(raw);
        if ("checkpoint" in said) resolve(said.checkpoint);
        else reject(said.isDiverged ? new DivergedError(job.chainId) : new Error(said.failure));
      });
      child.once("exit", () =>
        reject(new Error("The process that makes the checkpoint ended.")),
      );
    });
  return {
    run: (job) => {
      if (job.isSmall) return makeCheckpoint(job);
      if (job.livePort !== null) return start(job);
      return starts.run("checkpoint", () => start(job));
    },
    stop: () => stopper.abort(),
  };
};

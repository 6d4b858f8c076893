import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../write-atomically";

const checkpointSchema = z.object({
  /** File name of the node's state. */
  state: z.string(),
  /** The first journal segment that the state does not include. */
  segment: z.int().min(0),
  /** Signed transactions waiting in the pool, which the node's own state does not contain. */
  pool: z.array(z.string()),
  clockOffset: z.int(),
});

export type Checkpoint = z.output<typeof checkpointSchema>;

export interface ChainStore {
  readonly folder: string;
  readonly chainId: number;
  /**
   * The checkpoint from which a restoration starts; null when there is no complete one.
   * @throws Error when it cannot be read
   */
  checkpoint(): Checkpoint | null;
  /**
   * Replaces the current checkpoint atomically: a restoration reads the old one until this call
   * returns, and the new one afterwards.
   */
  commit(checkpoint: Checkpoint): Promise<void>;
  /** Removes files that no restoration needs any more. Must not run during a restoration. */
  tidy(): void;
  /** Numbers of the segments from `first` on, up to the first that is missing. */
  segments(first: number): number[];
  /** The number of the next segment: one above the highest that exists. */
  nextSegment(): number;
  segmentFile(segment: number): string;
  stateFile(name: string): string;
  logFile(name: string): string;
  /** Removes all files of the chain. */
  clear(): void;
}

/**
 * Opens a chain's files, which are named by chain id and number: `31337.journal.12`,
 * `31337.state.12.json`.
 */
export const openChainStore = (folder: string, chainId: number): ChainStore => {
  mkdirSync(folder, { recursive: true });
  const id = String(chainId);
  const checkpointFile = join(folder, `${id}.checkpoint.json`);
  const segmentFile = (segment: number): string =>
    join(folder, `${id}.journal.${String(segment)}`);
  const segmentPattern = new RegExp(`^${id}\\.journal\\.(\\d+)(\\.damaged)?$`);
  const statePattern = new RegExp(`^${id}\\.state\\.(\\d+\\.)?json(\\..*)?$`);
  const present = (): number[] =>
    readdirSync(folder).flatMap((name) => {
      const match = segmentPattern.exec(name);
      return match?.[1] === undefined || match[2] !== undefined ? [] : [Number(match[1])];
    });
  const checkpoint = (): Checkpoint | null => {
    return existsSync(checkpointFile)
      ? checkpointSchema.parse(JSON.parse(readFileSync(checkpointFile, "utf8")))
      : null;
  };
  const remove = (name: string): void => rmSync(join(folder, name), { force: true });
  return {
    folder,
    chainId,
    checkpoint,
    commit: (next) => writeAtomically(checkpointFile, JSON.stringify(next)),
    tidy: () => {
      const kept = checkpoint();
      if (kept === null) return;
      for (const name of readdirSync(folder)) {
        const segment = segmentPattern.exec(name);
        if (segment?.[2] === undefined && Number(segment?.[1] ?? Infinity) < kept.segment)
          remove(name);
        if (statePattern.test(name) && name !== kept.state) remove(name);
      }
    },
    segments: (first) => {
      const all = new Set(present());
      const found: number[] = [];
      for (let segment = first; all.has(segment); segment += 1) found.push(segment);
      return found;
    },
    nextSegment: () => Math.max((checkpoint()?.segment ?? 0) - 1, ...present()) + 1,
    segmentFile,
    stateFile: (name) => join(folder, name),
    logFile: (name) => join(folder, `${id}.${name}.log`),
    clear: () => {
      // Removes the checkpoint first, because no restoration reads the other files without a
      // checkpoint.
      remove(`${id}.checkpoint.json`);
      for (const name of readdirSync(folder))
        if (segmentPattern.test(name) || statePattern.test(name)) remove(name);
    },
  };
};

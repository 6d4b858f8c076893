import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { z } from "zod";
import { writeAtomically } from "../write-atomically";
import { headOf } from "./apply";
import { openChainStore, type Checkpoint, type ChainStore } from "./chain-store";
import { createNodeClient, type NodeClient } from "./node-client";
import { pruneState } from "./prune";
import { restoreNode } from "./restore";

const unzip = promisify(gunzip);
const DUMP_TIMEOUT_MS = 300_000;

export const checkpointJob = z.object({
  folder: z.string(),
  chainId: z.int(),
  /** The first segment that the checkpoint does not include. */
  segment: z.int(),
  clockOffset: z.int(),
  /**
   * Port of a node on which nobody else makes blocks; null to create a node from the previous
   * checkpoint and the journal.
   */
  livePort: z.int().nullable(),
  /**
   * True to make the checkpoint inside the process that serves the chain, which is faster than
   * starting another one.
   */
  isSmall: z.boolean(),
  /** The chain's latest block at the end of the previous segment. */
  expected: z.object({ number: z.int(), stateRoot: z.string() }),
});

export type CheckpointJob = z.output<typeof checkpointJob>;

/** Replaying the journal gave another state than the chain has. */
export class DivergedError extends Error {
  constructor(chainId: number) {
    super(
      `The journal of chain ${String(chainId)} does not lead to the state that the chain has.`,
    );
    this.name = "DivergedError";
  }
}

const poolSchema = z.object({
  pending: z.record(z.string(), z.record(z.string(), z.object({ hash: z.string() }))),
  queued: z.record(z.string(), z.record(z.string(), z.object({ hash: z.string() }))),
});

/** The pending transactions of the pool, lower nonces of an account first. */
const poolOf = async (node: NodeClient): Promise<string[]> => {
  const { pending, queued } = poolSchema.parse(await node.ask("txpool_content", []));
  const waiting = [...Object.values(pending), ...Object.values(queued)].flatMap((byNonce) =>
    Object.entries(byNonce).sort(([a], [b]) => Number(a) - Number(b)),
  );
  const raws: string[] = [];
  for (const [, { hash }] of waiting) {
    const raw = z
      .string()
      .nullable()
      .parse(await node.ask("eth_getRawTransactionByHash", [hash]));
    if (raw !== null) raws.push(raw);
  }
  return raws;
};

const writeState = async (
  store: ChainStore,
  node: NodeClient,
  job: CheckpointJob,
): Promise<Checkpoint> => {
  const head = await headOf(node);
  if (head.number !== job.expected.number || head.stateRoot !== job.expected.stateRoot)
    throw new DivergedError(job.chainId);
  const dump = z.string().parse(await node.ask("anvil_dumpState", [], DUMP_TIMEOUT_MS));
  const json = (await unzip(Buffer.from(dump.slice(2), "hex"))).toString("utf8");
  const state = `${String(job.chainId)}.state.${String(job.segment)}.json`;
  await writeAtomically(store.stateFile(state), pruneState(json));
  return {
    state,
    segment: job.segment,
    pool: await poolOf(node),
    clockOffset: job.clockOffset,
  };
};

/**
 * Writes a state from which a restoration can start. Restorations use the state only after the
 * chain has committed the returned checkpoint.
 * @throws DivergedError when replaying the journal gives another state than the chain has
 */
export const makeCheckpoint = async (job: CheckpointJob): Promise<Checkpoint> => {
  const store = openChainStore(job.folder, job.chainId);
  if (job.livePort !== null) {
    const node = createNodeClient(job.livePort);
    try {
      return await writeState(store, node, job);
    } finally {
      node.close();
    }
  }
  const checkpoint = store.checkpoint();
  const { anvil, node } = await restoreNode({
    store,
    checkpoint,
    segments: store
      .segments(checkpoint?.segment ?? 0)
      .filter((segment) => segment < job.segment),
    cutsTails: false,
    logFile: store.logFile("checkpoint"),
    log: () => undefined,
  });
  try {
    return await writeState(store, node, job);
  } finally {
    node.close();
    await anvil.stop();
  }
};

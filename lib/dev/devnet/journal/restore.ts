import { isAlive } from "@/lib/platform/os/process.mjs";
import { startAnvil, type AnvilProcess } from "../anvil-process";
import { applyRecord } from "./apply";
import type { Checkpoint, ChainStore } from "./chain-store";
import { BLOCKS_KEPT } from "./prune";
import { createNodeClient, NodeGoneError, type NodeClient, type Outcome } from "./node-client";
import type { JournalRecord } from "./record";
import { cutTail, readSegment } from "./segment";

interface RestoreOptions {
  readonly store: ChainStore;
  /** Null for a fresh chain. */
  readonly checkpoint: Checkpoint | null;
  /** The journal segments that the restoration replays. */
  readonly segments: readonly number[];
  /**
   * Whether to cut a half-written record at the end of a segment, as a kill leaves it. False while
   * the chain itself still writes to the segment.
   */
  readonly cutsTails: boolean;
  readonly logFile: string;
  readonly log: (message: string) => void;
}

export interface RestoredNode {
  readonly anvil: AnvilProcess;
  readonly node: NodeClient;
  readonly clockOffset: number;
  /** Number of replayed calls and blocks. */
  readonly steps: number;
  /** The node's answers to the calls of the last record. */
  readonly lastOutcomes: readonly Outcome[];
}

/**
 * Like `applyRecord`, but skips a call that a living node does not answer, because it would make
 * every restoration fail.
 */
const repeat = async (
  node: NodeClient,
  pid: number,
  record: JournalRecord,
): Promise<Outcome[]> => {
  try {
    return await applyRecord(node, record);
  } catch (error) {
    if (!(error instanceof NodeGoneError) || !isAlive(pid)) throw error;
    return [];
  }
};

/**
 * Starts a node with the state of the checkpoint and the following journal: the same balances,
 * block numbers, times and transactions. The hashes of replayed blocks differ, because each block
 * contains a random number (EIP-4399).
 * @throws Error when the node does not start, or ends meanwhile
 */
export const restoreNode = async (options: RestoreOptions): Promise<RestoredNode> => {
  const { store, checkpoint, segments, log } = options;
  const anvil = await startAnvil({
    chainId: store.chainId,
    port: 0,
    blocksKept: BLOCKS_KEPT,
    logFile: options.logFile,
    ...(checkpoint === null ? {} : { stateFile: store.stateFile(checkpoint.state) }),
  });
  const node = createNodeClient(anvil.port);
  let clockOffset = checkpoint?.clockOffset ?? 0;
  let steps = 0;
  let lastOutcomes: readonly Outcome[] = [];
  try {
    for (const raw of checkpoint?.pool ?? []) await node.call("eth_sendRawTransaction", [raw]);
    for (const segment of segments) {
      let wholeUntil = 0;
      for await (const { record, end } of readSegment(store.segmentFile(segment))) {
        lastOutcomes = await repeat(node, anvil.pid, record);
        ({ clockOffset } = record);
        steps += record.calls.length + (record.block === null ? 0 : 1);
        wholeUntil = end;
      }
      const cut = options.cutsTails ? await cutTail(store.segmentFile(segment), wholeUntil) : 0;
      if (cut > 0)
        log(
          `Chain ${String(store.chainId)}: the last ${String(cut)} bytes of its journal were not whole.`,
        );
    }
  } catch (error) {
    node.close();
    await anvil.stop();
    throw error;
  }
  return { anvil, node, clockOffset, steps, lastOutcomes };
};

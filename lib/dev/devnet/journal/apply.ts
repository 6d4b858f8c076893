import { z } from "zod";
import type { NodeClient, Outcome } from "./node-client";
import type { JournalRecord } from "./record";

const hex = z.string().regex(/^0x[0-9a-f]+$/i);
const header = z.object({ number: hex, timestamp: hex, stateRoot: hex });

export interface Head {
  readonly number: number;
  /** Unix seconds. */
  readonly time: number;
  readonly stateRoot: string;
}

export const headOf = async (node: NodeClient): Promise<Head> => {
  const block = header.parse(await node.ask("eth_getBlockByNumber", ["latest", false]));
  return {
    number: Number(block.number),
    time: Number(block.timestamp),
    stateRoot: block.stateRoot,
  };
};

/**
 * Applies one journal record to a node. The live chain and its restoration both use this function,
 * so that they reach the same state. A call that fails on the live node fails in the restoration
 * too.
 * @returns the node's answer to each call
 * @throws NodeGoneError
 */
export const applyRecord = async (
  node: NodeClient,
  record: JournalRecord,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  // Sent one by one, because anvil executes the calls of a batch concurrently.
  for (const [method, params] of record.calls) outcomes.push(await node.call(method, params));
  if (record.block !== null) await node.call("evm_mine", [{ timestamp: record.block.time }]);
  return outcomes;
};

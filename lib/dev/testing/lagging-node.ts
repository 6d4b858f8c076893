import { numberToHex } from "viem";
import { z } from "zod";

export interface Call {
  readonly jsonrpc: string;
  readonly id: number | string;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Forward = (calls: readonly Call[]) => Promise<Record<string, unknown>[]>;

/** For each method, the position of the block parameter. */
const BLOCK_PARAM: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_getBlockByNumber: 0,
};
const HEADS = new Set<unknown>(["latest", "pending", "safe", "finalized"]);

const hex = z.string().regex(/^0x[0-9a-f]+$/i);
const mined = z.object({ blockNumber: hex.nullable() });
const logFilter = z.looseObject({ fromBlock: hex.optional(), toBlock: z.string().optional() });

const numberOf = (value: unknown): bigint | null =>
  hex.safeParse(value).success ? BigInt(hex.parse(value)) : null;

/**
 * Changes the call so that the chain answers it as a node at `head` would. Null when the call
 * needs data that such a node does not have.
 */
const asOf = (call: Call, head: bigint): Call | null => {
  const at = BLOCK_PARAM[call.method];
  if (at !== undefined) {
    const params = [...call.params];
    if (params[at] === undefined || params[at] === null || HEADS.has(params[at]))
      params[at] = numberToHex(head);
    const block = numberOf(params[at]);
    return block !== null && block > head ? null : { ...call, params };
  }
  if (call.method !== "eth_getLogs") return call;
  const filter = logFilter.parse(call.params[0]);
  const from = numberOf(filter.fromBlock);
  if (from !== null && from > head) return null;
  const to = numberOf(filter.toBlock);
  return {
    ...call,
    params: [{ ...filter, toBlock: numberToHex(to === null || to > head ? head : to) }],
  };
};

/** Answers like a node that lags this many blocks behind the chain. */
export const behind = async (
  forward: Forward,
  call: Call,
  blocks: number,
): Promise<Record<string, unknown>> => {
  const base = { jsonrpc: "2.0", id: call.id };
  const [latest] = await forward([{ ...base, method: "eth_blockNumber", params: [] }]);
  const number = BigInt(hex.parse(latest?.result));
  const head = number > BigInt(blocks) ? number - BigInt(blocks) : 0n;
  if (call.method === "eth_blockNumber") return { ...base, result: numberToHex(head) };
  const asked = asOf(call, head);
  if (asked === null) return { ...base, result: call.method === "eth_getLogs" ? [] : null };
  const [answer] = await forward([asked]);
  const place = mined.safeParse(answer?.result);
  const isAhead =
    place.success && place.data.blockNumber !== null && BigInt(place.data.blockNumber) > head;
  return isAhead ? { ...base, result: null } : { ...answer, ...base };
};

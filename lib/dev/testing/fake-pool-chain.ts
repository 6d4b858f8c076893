import {
  createPublicClient,
  custom,
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  numberToHex,
  pad,
  toHex,
  type Hex,
} from "viem";
import { createPoolEvents, type PoolEvents } from "@/lib/adapters/privacy-pools/pool-events";
import type { PoolHistory } from "@/lib/adapters/privacy-pools/pool-history";
import { privacyPoolAbi } from "@/lib/chain/privacy-pools";
import type { PoolLogStore } from "@/lib/money/ports/privacy-history";

const POOL = "0x1111111111111111111111111111111111111111";
const OWNER = "0x2222222222222222222222222222222222222222";

export interface Made {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

export const made = (
  eventName: "Deposited" | "Withdrawn" | "LeafInserted" | "Ragequit",
  values: readonly bigint[],
): Made => {
  const account = eventName === "LeafInserted" ? [] : [pad(OWNER)];
  const [topic = "0x"] = encodeEventTopics({ abi: privacyPoolAbi, eventName }) as Hex[];
  return {
    topics: [topic, ...account],
    data: encodeAbiParameters(
      values.map(() => ({ type: "uint256" })),
      [...values],
    ),
  };
};

export const deposited = (
  value: bigint,
  label: bigint,
  precommitment: bigint,
  commitment: bigint,
): Made[] => [
  made("LeafInserted", [0n, commitment, 0n]),
  made("Deposited", [commitment, label, value, precommitment]),
];

/** Number of confirmations of the fake chains. */
export const FAKE_CONFIRMATIONS = 12;

/**
 * A chain of fake blocks with the logs of one pool. It counts the requests.
 * @param store keeps final logs over `restart`
 */
export const fakePoolChain = (store: PoolLogStore | null = null, chainId = 1) => {
  let blocks: { hash: Hex; logs: Made[] }[] = [];
  const ranges: [number, number][] = [];
  const add = (logs: Made[], salt = ""): void => {
    blocks.push({
      hash: keccak256(toHex(`${String(blocks.length)}${salt}${String(Math.random())}`)),
      logs,
    });
  };
  const blockOf = (number: number) => ({
    number: numberToHex(number),
    hash: blocks[number]?.hash ?? null,
    transactions: [],
    timestamp: "0x1",
  });
  const request = ({
    method,
    params = [],
  }: {
    method: string;
    params?: unknown[];
  }): Promise<unknown> => {
    if (method === "eth_getBlockByNumber") {
      const number = params[0] === "latest" ? blocks.length - 1 : Number(params[0]);
      return Promise.resolve(number < blocks.length ? blockOf(number) : null);
    }
    if (method !== "eth_getLogs") return Promise.reject(new Error(method));
    const { fromBlock, toBlock } = params[0] as { fromBlock: Hex; toBlock: Hex };
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    ranges.push([from, to]);
    const found = blocks.slice(from, to + 1).flatMap(({ hash, logs }, offset) =>
      logs.map((log, index) => ({
        ...log,
        address: POOL,
        blockNumber: numberToHex(from + offset),
        blockHash: hash,
        transactionHash: hash,
        transactionIndex: "0x0",
        logIndex: numberToHex(index),
        removed: false,
      })),
    );
    return Promise.resolve(found);
  };
  const client = createPublicClient({ transport: custom({ request: request as never }) });
  const finalNumber = (latest: bigint): Promise<bigint> =>
    Promise.resolve(latest - BigInt(FAKE_CONFIRMATIONS));
  const open = (): PoolEvents =>
    createPoolEvents({
      chainId,
      client,
      pools: [POOL],
      startBlock: 0n,
      rangeBlocks: () => 2_000n,
      finalNumber,
      store,
    });
  let events = open();
  const historyOf = (histories: ReadonlyMap<string, PoolHistory>): PoolHistory => {
    const history = histories.get(POOL);
    if (history === undefined) throw new Error("The pool has no history.");
    return history;
  };
  const read = async (): Promise<PoolHistory> => historyOf(await events.read());
  return {
    add,
    read,
    ranges,
    setBack: (depth: number) => (blocks = blocks.slice(0, blocks.length - depth)),
    /** Clears the memory, as in a new process. */
    restart: (): void => {
      events = open();
    },
    /** Simulates another process on the same chain. */
    instance: (): (() => Promise<PoolHistory>) => {
      const own = open();
      return async () => historyOf(await own.read());
    },
  };
};

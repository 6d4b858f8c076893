import { createHash } from "node:crypto";
import { BlockNotFoundError, type Address, type PublicClient } from "viem";
import { chainCall } from "@/lib/chain/registry";
import type {
  BlockMark,
  PoolLog,
  PoolLogSource,
  PoolLogStore,
} from "@/lib/money/ports/privacy-history";
import {
  applyLog,
  emptyHistory,
  poolLogsOf,
  type MutableHistory,
  type PoolHistory,
} from "./pool-history";

const RANGES_AT_ONCE = 4;
/** Progress over blocks without logs is stored at most once per this many blocks. */
const QUIET_BLOCKS = 500n;

export interface PoolEvents {
  /**
   * The histories at the chain's current head. Reads only new blocks.
   * @throws DomainError `chain_unavailable`
   */
  read(): Promise<ReadonlyMap<Address, PoolHistory>>;
}

export interface PoolEventsOptions {
  readonly chainId: number;
  readonly client: PublicClient;
  readonly pools: readonly Address[];
  readonly startBlock: bigint;
  /** The newest final block when `latest` is the newest block; null while there is none. */
  readonly finalNumber: (latest: bigint) => Promise<bigint | null>;
  /** Number of blocks in one log request. May shrink after a node refuses a request. */
  readonly rangeBlocks: () => bigint;
  /** Null to store no logs, so that a restart reads the chain from `startBlock`. */
  readonly store: PoolLogStore | null;
}

const min = (one: bigint, other: bigint): bigint => (one < other ? one : other);

const ranges = (from: bigint, to: bigint, blocks: bigint): [bigint, bigint][] => {
  const found: [bigint, bigint][] = [];
  for (let at = from; at <= to; at += blocks) found.push([at, min(at + blocks - 1n, to)]);
  return found;
};

const sourceOf = ({ chainId, pools, startBlock }: PoolEventsOptions): PoolLogSource => {
  const parts = [...pools.map((pool) => pool.toLowerCase()).sort(), startBlock];
  return { chainId, digest: createHash("sha256").update(parts.join(" ")).digest("hex") };
};

const createHistories = (pools: readonly Address[]) => {
  const byLower = new Map(pools.map((pool) => [pool.toLowerCase(), pool]));
  let logs: PoolLog[] = [];
  let histories = new Map<Address, MutableHistory>(
    pools.map((pool) => [pool, emptyHistory(0)]),
  );
  const add = (found: readonly PoolLog[]): void => {
    for (const log of found) {
      logs.push(log);
      const history = histories.get(byLower.get(log.pool.toLowerCase()) ?? log.pool);
      if (history !== undefined) applyLog(history, log);
    }
  };
  return {
    add,
    all: (): ReadonlyMap<Address, PoolHistory> => histories,
    between: (after: bigint, to: bigint): PoolLog[] =>
      logs.filter(({ blockNumber }) => blockNumber > after && blockNumber <= to),
    /** Removes everything after a block, and rebuilds the histories from the remaining logs. */
    forgetAfter: (block: bigint): void => {
      const kept = logs.filter(({ blockNumber }) => blockNumber <= block);
      histories = new Map(
        [...histories].map(([pool, { generation }]) => [pool, emptyHistory(generation + 1)]),
      );
      logs = [];
      add(kept);
    },
    setFinal: (block: bigint): void => {
      for (const history of histories.values()) history.finalBlock = block;
    },
  };
};

const createChainReader = ({
  client,
  pools,
  rangeBlocks,
}: Pick<PoolEventsOptions, "client" | "pools" | "rangeBlocks">) => {
  const markOf = async (blockNumber: bigint): Promise<BlockMark | null> => {
    try {
      const { number, hash } = await client.getBlock({ blockNumber });
      return { number, hash };
    } catch (error) {
      if (error instanceof BlockNotFoundError) return null;
      throw error;
    }
  };

  return {
    /** The number and hash of a block; null when the node lacks it. */
    markOf,
    isOnChain: async ({ number, hash }: BlockMark): Promise<boolean> =>
      (await markOf(number))?.hash === hash,
    fetchLogs: async (fromBlock: bigint, toBlock: bigint): Promise<PoolLog[]> => {
      const parts = await Promise.all(
        ranges(fromBlock, toBlock, rangeBlocks()).map(([from, to]) =>
          client.getLogs({ address: [...pools], fromBlock: from, toBlock: to }),
        ),
      );
      return parts.flatMap((part) => part.flatMap(poolLogsOf));
    },
  };
};

interface Follower extends PoolEventsOptions {
  readonly source: PoolLogSource;
  readonly histories: ReturnType<typeof createHistories>;
  readonly chain: ReturnType<typeof createChainReader>;
  isRestored: boolean;
  last: BlockMark | null;
  /**
   * The final block up to which everything was read. A reorganisation can remove only later blocks.
   */
  anchor: BlockMark | null;
}

const restore = async (follower: Follower): Promise<void> => {
  const { store, source, histories } = follower;
  if (follower.isRestored || store === null) return;
  for (const { to, logs } of await store.load(source)) {
    histories.add(logs);
    follower.anchor = to;
  }
  follower.last = follower.anchor;
  follower.isRestored = true;
};

/**
 * Returns the first block to read. When a reorganisation has removed the last read block, it first
 * drops the logs after the final block `anchor`, or all logs if the chain lacks that block too.
 */
const resumeFrom = async (follower: Follower, head: bigint): Promise<bigint> => {
  const { startBlock, store, source, histories, chain, last, anchor } = follower;
  if (last === null) return startBlock;
  if (last.number <= head && (await chain.isOnChain(last))) return last.number + 1n;
  if (anchor !== null && anchor.number <= head && (await chain.isOnChain(anchor))) {
    histories.forgetAfter(anchor.number);
    follower.last = anchor;
    return anchor.number + 1n;
  }
  // A node without the anchor may only lag behind, which is no reason to clear the store.
  if (anchor !== null && anchor.number <= head) await store?.clear(source);
  histories.forgetAfter(startBlock - 1n);
  follower.anchor = null;
  follower.last = null;
  return startBlock;
};

/**
 * Continues from the end of the stored logs, after another instance appended to the store or
 * cleared it. Clears the store when its last block is no longer on the chain.
 */
const adoptEnd = async (
  follower: Follower,
  kept: PoolLogStore,
  readTo: bigint,
): Promise<void> => {
  const end = await kept.end(follower.source);
  if (end === null) {
    follower.anchor = null;
    return;
  }
  if (end.number > readTo) return;
  if (await follower.chain.isOnChain(end)) follower.anchor = end;
  else {
    await kept.clear(follower.source);
    follower.anchor = null;
  }
};

const keep = async (
  follower: Follower,
  newestFinal: bigint,
  read: BlockMark,
): Promise<void> => {
  const { startBlock, store, source, histories, chain } = follower;
  const final = min(newestFinal, read.number);
  const known = follower.anchor?.number ?? startBlock - 1n;
  if (final <= known) return;
  const logs = histories.between(known, final);
  if (logs.length === 0 && final - known < QUIET_BLOCKS) return;
  const to = final === read.number ? read : await chain.markOf(final);
  if (to === null) return;
  if (
    store === null ||
    (await store.append(source, startBlock, { fromBlock: known + 1n, to, logs }))
  )
    follower.anchor = to;
  else await adoptEnd(follower, store, read.number);
};

/** Reads the chain from the last read block to the head. */
const sync = async (follower: Follower): Promise<void> => {
  const { client, histories, chain, rangeBlocks } = follower;
  await restore(follower);
  const head = await client.getBlock({ blockTag: "latest" });
  const final = (await follower.finalNumber(head.number)) ?? -1n;
  let from = await resumeFrom(follower, head.number);
  while (from <= head.number) {
    const to = min(from + rangeBlocks() * BigInt(RANGES_AT_ONCE) - 1n, head.number);
    // The block's hash is read before its logs, so that the next read notices a reorganisation that
    // happened between the two requests.
    const read: BlockMark | null = to === head.number ? head : await chain.markOf(to);
    if (read === null) return;
    histories.add(await chain.fetchLogs(from, to));
    follower.last = { number: read.number, hash: read.hash };
    await keep(follower, final, follower.last);
    from = to + 1n;
  }
  histories.setFinal(final);
};

/**
 * Follows the pools of one chain. Stores only final logs. Later logs are only in memory, because a
 * reorganisation can remove them.
 */
export const createPoolEvents = (options: PoolEventsOptions): PoolEvents => {
  const histories = createHistories(options.pools);
  const follower: Follower = {
    ...options,
    source: sourceOf(options),
    histories,
    chain: createChainReader(options),
    isRestored: false,
    last: null,
    anchor: null,
  };
  let reading: Promise<void> | null = null;

  return {
    read: async () => {
      // A running read is not shared: it may have begun before the caller's transaction was mined.
      while (reading !== null) await reading.catch(() => undefined);
      reading = chainCall(options.chainId, () => sync(follower)).finally(() => {
        reading = null;
      });
      await reading;
      return histories.all();
    },
  };
};

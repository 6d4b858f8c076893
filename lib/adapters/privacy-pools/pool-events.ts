import { toEventSelector, type Address, type Hex, type Log, type PublicClient } from "viem";
import { chainCall } from "@/lib/chains/registry";

/** Blocks in one request; what public nodes allow. */
const RANGE_BLOCKS = 2_000n;
const RANGES_AT_ONCE = 4;
/** After a reorganisation so many blocks are read again. */
const REORG_BLOCKS = 64n;

export interface PoolDeposit {
  readonly depositor: Address;
  readonly commitment: bigint;
  readonly label: bigint;
  readonly value: bigint;
  readonly precommitment: bigint;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

export interface PoolWithdrawal {
  readonly value: bigint;
  readonly commitment: bigint;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

/** Everything that a pool has logged. */
export interface PoolHistory {
  readonly deposits: ReadonlyMap<bigint, PoolDeposit>;
  readonly labels: ReadonlySet<bigint>;
  /** By the hash of the nullifier that was spent. */
  readonly withdrawals: ReadonlyMap<bigint, PoolWithdrawal>;
  /** Labels of notes that left by the public exit. */
  readonly exits: ReadonlySet<bigint>;
  /** Of the state tree, in their order. */
  readonly leaves: readonly bigint[];
  /** Changes when a reorganisation took something back. */
  readonly generation: number;
}

/** A log of a pool. All values of its events but the first account are words of the data, in their order. */
interface PoolLog {
  readonly pool: Address;
  readonly topic: Hex;
  readonly account: Address;
  readonly words: readonly bigint[];
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

const DEPOSITED = toEventSelector("Deposited(address,uint256,uint256,uint256,uint256)");
const WITHDRAWN = toEventSelector("Withdrawn(address,uint256,uint256,uint256)");
const RAGEQUIT = toEventSelector("Ragequit(address,uint256,uint256,uint256)");
const LEAF_INSERTED = toEventSelector("LeafInserted(uint256,uint256,uint256)");
const KNOWN = new Set<Hex | undefined>([DEPOSITED, WITHDRAWN, RAGEQUIT, LEAF_INSERTED]);
const WORD_DIGITS = 64;

/** By hand: a general decoder takes seconds for the logs of ten thousand deposits. */
const decode = (log: Log<bigint, number, false>): PoolLog[] => {
  const [topic, account] = log.topics;
  if (topic === undefined || !KNOWN.has(topic)) return [];
  const digits = log.data.slice(2);
  const words = Array.from({ length: Math.floor(digits.length / WORD_DIGITS) }, (_, index) =>
    BigInt(`0x${digits.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS)}`),
  );
  const { transactionHash: txHash, blockNumber } = log;
  return [{ pool: log.address, topic, account: `0x${(account ?? "").slice(-40)}`, words, txHash, blockNumber }];
};

interface MutableHistory {
  deposits: Map<bigint, PoolDeposit>;
  labels: Set<bigint>;
  withdrawals: Map<bigint, PoolWithdrawal>;
  exits: Set<bigint>;
  leaves: bigint[];
  generation: number;
}

const emptyHistory = (generation: number): MutableHistory => ({
  deposits: new Map(),
  labels: new Set(),
  withdrawals: new Map(),
  exits: new Set(),
  leaves: [],
  generation,
});

const apply = (history: MutableHistory, { topic, account, words, txHash, blockNumber }: PoolLog): void => {
  const [first = 0n, second = 0n, third = 0n, fourth = 0n] = words;
  switch (topic) {
    case DEPOSITED: {
      const [commitment, label, value, precommitment] = [first, second, third, fourth];
      history.labels.add(label);
      // The first deposit with a precommitment is the wallet's own; who copies one can spend neither.
      if (history.deposits.has(precommitment)) return;
      history.deposits.set(precommitment, {
        depositor: account,
        commitment,
        label,
        value,
        precommitment,
        txHash,
        blockNumber,
      });
      return;
    }
    case WITHDRAWN:
      history.withdrawals.set(second, { value: first, commitment: third, txHash, blockNumber });
      return;
    case RAGEQUIT:
      history.exits.add(second);
      return;
    default:
      history.leaves.push(second);
  }
};

const ranges = (from: bigint, to: bigint): [bigint, bigint][] => {
  const found: [bigint, bigint][] = [];
  for (let at = from; at <= to; at += RANGE_BLOCKS) {
    const end = at + RANGE_BLOCKS - 1n;
    found.push([at, end < to ? end : to]);
  }
  return found;
};

export interface PoolEvents {
  /** As of the chain's head now; reads only what is new. @throws DomainError `chain_unavailable` */
  read(): Promise<ReadonlyMap<Address, PoolHistory>>;
}

/** Follows the pools of one chain. Kept in memory: what is lost with the process is read again. */
export const createPoolEvents = (options: {
  readonly chainId: number;
  readonly client: PublicClient;
  readonly pools: readonly Address[];
  readonly startBlock: bigint;
}): PoolEvents => {
  const { chainId, client, pools, startBlock } = options;
  let logs: PoolLog[] = [];
  let histories = new Map<Address, MutableHistory>(pools.map((pool) => [pool, emptyHistory(0)]));
  let last: { number: bigint; hash: Hex } | null = null;
  let reading: Promise<void> | null = null;

  const fetchLogs = async (fromBlock: bigint, toBlock: bigint): Promise<PoolLog[]> => {
    const found: PoolLog[] = [];
    const all = ranges(fromBlock, toBlock);
    for (let at = 0; at < all.length; at += RANGES_AT_ONCE) {
      const parts = await Promise.all(
        all
          .slice(at, at + RANGES_AT_ONCE)
          .map(([from, to]) => client.getLogs({ address: [...pools], fromBlock: from, toBlock: to })),
      );
      for (const part of parts) for (const log of part) found.push(...decode(log));
    }
    return found;
  };

  const byAddress = (address: Address): MutableHistory | undefined =>
    histories.get(pools.find((pool) => pool.toLowerCase() === address.toLowerCase()) ?? address);

  const add = (found: readonly PoolLog[]): void => {
    for (const log of found) {
      logs.push(log);
      const history = byAddress(log.pool);
      if (history !== undefined) apply(history, log);
    }
  };

  /** Forgets what came after a block, and builds the rest anew. */
  const forgetAfter = (block: bigint): void => {
    const kept = logs.filter(({ blockNumber }) => blockNumber <= block);
    histories = new Map([...histories].map(([pool, { generation }]) => [pool, emptyHistory(generation + 1)]));
    logs = [];
    add(kept);
  };

  /** The first block that has to be read. */
  const resumeFrom = async (head: bigint): Promise<bigint> => {
    if (last === null) return startBlock;
    const { number, hash } = last;
    const seen = number > head ? null : await client.getBlock({ blockNumber: number }).catch(() => null);
    if (seen?.hash === hash) return number + 1n;
    const back = number > REORG_BLOCKS ? number - REORG_BLOCKS : 0n;
    const from = back > startBlock ? back : startBlock;
    forgetAfter(from - 1n);
    return from;
  };

  const sync = (): Promise<void> =>
    chainCall(chainId, async () => {
      const head = await client.getBlock({ blockTag: "latest" });
      const from = await resumeFrom(head.number);
      if (from <= head.number) add(await fetchLogs(from, head.number));
      last = { number: head.number, hash: head.hash };
    });

  return {
    read: async () => {
      // One reading may have begun before the caller's transaction was mined, so the caller waits for one of its own.
      while (reading !== null) await reading.catch(() => undefined);
      reading = sync().finally(() => {
        reading = null;
      });
      await reading;
      return histories;
    },
  };
};

import { toEventSelector, type Address, type Hex, type Log } from "viem";
import type { PoolLog } from "@/lib/money/ports/privacy-history";

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

export interface PoolHistory {
  readonly deposits: ReadonlyMap<bigint, PoolDeposit>;
  readonly labels: ReadonlySet<bigint>;
  /** The withdrawals from the pool, by the hash of the nullifier that they spent. */
  readonly withdrawals: ReadonlyMap<bigint, PoolWithdrawal>;
  /** Labels of notes that were withdrawn by the public exit. */
  readonly exits: ReadonlySet<bigint>;
  readonly leaves: readonly bigint[];
  /** Changes when a reorganisation has removed events. */
  readonly generation: number;
  /** The newest block that no reorganisation is expected to remove. */
  readonly finalBlock: bigint;
}

export interface MutableHistory extends PoolHistory {
  readonly deposits: Map<bigint, PoolDeposit>;
  readonly labels: Set<bigint>;
  readonly withdrawals: Map<bigint, PoolWithdrawal>;
  readonly exits: Set<bigint>;
  readonly leaves: bigint[];
  finalBlock: bigint;
}

const DEPOSITED = toEventSelector("Deposited(address,uint256,uint256,uint256,uint256)");
const WITHDRAWN = toEventSelector("Withdrawn(address,uint256,uint256,uint256)");
const RAGEQUIT = toEventSelector("Ragequit(address,uint256,uint256,uint256)");
const LEAF_INSERTED = toEventSelector("LeafInserted(uint256,uint256,uint256)");
const KNOWN = new Set<Hex | undefined>([DEPOSITED, WITHDRAWN, RAGEQUIT, LEAF_INSERTED]);
const WORD_DIGITS = 64;
const ADDRESS_DIGITS = 40;

/** The log in the stored form. Empty for events that are not about notes. */
export const poolLogsOf = (log: Log<bigint, number, false>): PoolLog[] => {
  const [topic, account] = log.topics;
  if (topic === undefined || !KNOWN.has(topic)) return [];
  const { address: pool, data, transactionHash: txHash, blockNumber } = log;
  return [
    {
      pool,
      topic,
      account: `0x${(account ?? "").slice(-ADDRESS_DIGITS)}`,
      data,
      txHash,
      blockNumber,
    },
  ];
};

export const emptyHistory = (generation: number): MutableHistory => ({
  deposits: new Map(),
  labels: new Set(),
  withdrawals: new Map(),
  exits: new Set(),
  leaves: [],
  generation,
  finalBlock: -1n,
});

/**
 * Decodes the event values, which are words of the data except for the first account. A general
 * decoder takes seconds for the logs of ten thousand deposits.
 */
const wordsOf = (data: Hex): bigint[] => {
  const digits = data.slice(2);
  return Array.from({ length: Math.floor(digits.length / WORD_DIGITS) }, (_, index) =>
    BigInt(`0x${digits.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS)}`),
  );
};

export const applyLog = (
  history: MutableHistory,
  { topic, account, data, txHash, blockNumber }: PoolLog,
): void => {
  const [first = 0n, second = 0n, third = 0n, fourth = 0n] = wordsOf(data);
  switch (topic) {
    case DEPOSITED: {
      const [commitment, label, value, precommitment] = [first, second, third, fourth];
      history.labels.add(label);
      // Only the first deposit with a precommitment belongs to the wallet. Later deposits may copy
      // the precommitment, but their depositors cannot spend the wallet's deposit.
      if (history.deposits.has(precommitment)) return;
      const made = { depositor: account, commitment, label, value, precommitment };
      history.deposits.set(precommitment, { ...made, txHash, blockNumber });
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

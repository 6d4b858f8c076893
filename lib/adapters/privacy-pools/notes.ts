import type { Address, Hex } from "viem";
import {
  changeSecrets,
  depositSecrets,
  masterKeysOf,
  nullifierHashOf,
  precommitmentOf,
  type MasterKeys,
  type NoteSecrets,
} from "./keys";
import type { PoolDeposit, PoolHistory, PoolWithdrawal } from "./pool-history";

/**
 * The search ends after this many consecutive deposit numbers without a deposit on chain. Failed
 * transactions leave gaps. The SDK's scan also tolerates ten.
 */
export const GAP_MAX = 10;

export interface OpenNote extends NoteSecrets {
  readonly value: bigint;
  readonly label: bigint;
  readonly commitment: bigint;
  readonly nullifierHash: bigint;
  readonly depositIndex: number;
  /**
   * Number of earlier withdrawals from the note's deposit, which is the index of the next
   * withdrawal.
   */
  readonly spends: number;
  readonly depositor: Address;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

export interface WalletNotes {
  readonly notes: readonly OpenNote[];
  readonly nextDepositIndex: number;
  /**
   * The lowest deposit number that must not be used, because a later search might not find such a
   * deposit again.
   */
  readonly depositIndexLimit: number;
  /** The withdrawals that spent notes, by the commitment of the spent note. */
  readonly spent: ReadonlyMap<bigint, PoolWithdrawal>;
}

interface Hashed extends NoteSecrets {
  readonly precommitment: bigint;
}

/**
 * The secrets of one wallet. Each is derived once, because a hash takes a third of a millisecond.
 */
export interface WalletKeys {
  readonly master: MasterKeys;
  deposit(scope: bigint, index: number): Hashed;
  change(label: bigint, index: number): NoteSecrets;
  nullifierHash(secrets: NoteSecrets): bigint;
}

const remembered = <T>(make: (of: bigint, index: number) => T) => {
  const known = new Map<string, T>();
  return (of: bigint, index: number): T => {
    const key = `${of.toString(36)}:${String(index)}`;
    const found = known.get(key) ?? make(of, index);
    known.set(key, found);
    return found;
  };
};

export const createWalletKeys = (mnemonic: string): WalletKeys => {
  const master = masterKeysOf(mnemonic);
  const hashes = new Map<bigint, bigint>();
  return {
    master,
    deposit: remembered((scope, index) => {
      const secrets = depositSecrets(master, scope, BigInt(index));
      return { ...secrets, precommitment: precommitmentOf(secrets) };
    }),
    change: remembered((label, index) => changeSecrets(master, label, BigInt(index))),
    nullifierHash: (secrets) => {
      const hash = hashes.get(secrets.nullifier) ?? nullifierHashOf(secrets);
      hashes.set(secrets.nullifier, hash);
      return hash;
    },
  };
};

/**
 * Follows a deposit through its withdrawals to the remaining note; null when everything was spent.
 */
const follow = (
  keys: WalletKeys,
  history: PoolHistory,
  own: {
    deposit: PoolDeposit;
    secrets: NoteSecrets;
    depositIndex: number;
    noteSpent: (commitment: bigint, by: PoolWithdrawal) => void;
  },
): OpenNote | null => {
  const { deposit, depositIndex, noteSpent } = own;
  if (history.exits.has(deposit.label)) return null;
  let { nullifier, secret } = own.secrets;
  let { value, commitment, txHash, blockNumber } = deposit;
  for (let spends = 0; ; spends += 1) {
    const nullifierHash = keys.nullifierHash({ nullifier, secret });
    const spent = history.withdrawals.get(nullifierHash);
    if (spent === undefined) {
      if (value === 0n) return null;
      const { label, depositor } = deposit;
      return {
        value,
        label,
        commitment,
        nullifier,
        secret,
        nullifierHash,
        depositIndex,
        spends,
        depositor,
        txHash,
        blockNumber,
      };
    }
    noteSpent(commitment, spent);
    value -= spent.value;
    ({ commitment, txHash, blockNumber } = spent);
    ({ nullifier, secret } = keys.change(deposit.label, spends));
  }
};

/** A wallet's notes in a pool, derived only from its keys and the chain. */
export const readNotes = (
  keys: WalletKeys,
  scope: bigint,
  history: PoolHistory,
): WalletNotes => {
  const notes: OpenNote[] = [];
  const spent = new Map<bigint, PoolWithdrawal>();
  const noteSpent = (commitment: bigint, by: PoolWithdrawal): void =>
    void spent.set(commitment, by);
  let nextDepositIndex = 0;
  let nextFinalIndex = 0;
  for (let index = 0; index < nextDepositIndex + GAP_MAX; index += 1) {
    const secrets = keys.deposit(scope, index);
    const deposit = history.deposits.get(secrets.precommitment);
    if (deposit === undefined) continue;
    nextDepositIndex = index + 1;
    // A reorganisation may remove a newer deposit, so that its number is free again.
    if (deposit.blockNumber <= history.finalBlock) nextFinalIndex = index + 1;
    const note = follow(keys, history, { deposit, secrets, depositIndex: index, noteSpent });
    if (note !== null) notes.push(note);
  }
  return { notes, nextDepositIndex, depositIndexLimit: nextFinalIndex + GAP_MAX, spent };
};

// The contracts of the fake privacy chain, which apply transactions to deposits, withdrawals and
// balances in memory.
import { createHash } from "node:crypto";
import { DomainError } from "@/lib/core/errors";
import { bpsOfCeil } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type {
  DepositSlot,
  PrivacyPool,
  PrivateNote,
  PrivateWalletKey,
  Spend,
  SpendRefusal,
} from "@/lib/money/ports/privacy";
import type { EvmAddress } from "@/lib/core/evm";

type Hex = `0x${string}`;

/** A scan stops after this many consecutive unused numbers, like the real engine. */
export const GAP_MAX = 10;
export const FEE_SCALE = 10_000n;
/** The contract that deposits the new note of a spend. */
export const PROCESSOR: EvmAddress = "0x0000000000000000000000000000000000000Ace";
export const OTHER_SET = "other";

interface FakeDeposit {
  readonly pool: PrivacyPool;
  readonly label: string;
  readonly commitment: string;
  readonly valueBase: bigint;
  readonly depositor: EvmAddress;
  readonly exitOwner: EvmAddress;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

export interface OpenNote extends PrivateNote {
  readonly secret: string;
  readonly spends: number;
  readonly exitOwner: EvmAddress;
}

/** The effect of a transaction. The transaction's call data identifies it. */
export type Action =
  | {
      readonly kind: "deposit";
      readonly pool: PrivacyPool;
      readonly amountBase: bigint;
      readonly precommitment: string;
    }
  | { readonly kind: "exit"; readonly note: OpenNote; readonly owner: EvmAddress }
  | {
      readonly kind: "spend";
      readonly spend: Spend;
      readonly note: OpenNote;
      readonly set: string;
      readonly precommitment: string | null;
      readonly changeId: string;
    };

/** The state of the contracts. */
export interface FakeContracts {
  readonly pools: readonly PrivacyPool[];
  readonly now: () => Date;
  readonly deposits: Map<string, FakeDeposit>;
  readonly withdrawals: Map<
    string,
    Pick<FakeDeposit, "valueBase" | "commitment" | "txHash" | "blockNumber">
  >;
  readonly exits: Set<string>;
  readonly approved: Set<string>;
  readonly declined: Set<string>;
  readonly declinedAccounts: Set<EvmAddress>;
  readonly balances: Map<string, bigint>;
  isOtherSet: boolean;
  blockNumber: bigint;
  swapRateBps: bigint;
}

export const numberOf = (...parts: readonly unknown[]): string =>
  BigInt(
    `0x${createHash("sha256").update(parts.map(String).join("|")).digest("hex").slice(0, 60)}`,
  ).toString();

const isSame = (one: Token, other: Token): boolean =>
  one.chainId === other.chainId && one.address === other.address;
export const feeOf = (base: bigint, bps: number): bigint => (base * BigInt(bps)) / FEE_SCALE;
const keyOf = (token: Token, owner: EvmAddress): string =>
  `${token.address}:${owner.toLowerCase()}`;
const secretOf = ({ wallet, index }: DepositSlot, { address }: PrivacyPool): string =>
  numberOf("deposit", wallet.mnemonic, address, index);
export const nullifierHashOf = (secret: string): string => numberOf("nullifier", secret);
/** The precommitment of a wallet's deposit number, which identifies the deposit on the chain. */
export const precommitmentOf = (slot: DepositSlot, pool: PrivacyPool): string =>
  numberOf("precommitment", secretOf(slot, pool));

/**
 * The account's balance. It may be negative, because the fake does not check that an account has
 * enough.
 */
export const balanceOf = (
  { balances }: FakeContracts,
  token: Token,
  owner: EvmAddress,
): bigint => balances.get(keyOf(token, owner)) ?? 0n;

const pay = (contracts: FakeContracts, token: Token, owner: EvmAddress, base: bigint): void => {
  contracts.balances.set(keyOf(token, owner), balanceOf(contracts, token, owner) + base);
};

export const poolOf = ({ pools }: FakeContracts, token: Token): PrivacyPool => {
  const pool = pools.find((each) => isSame(each.token, token));
  if (pool === undefined)
    throw new DomainError("unknown_pool", `There is no privacy pool of ${token.symbol}.`);
  return pool;
};

export const swapped = (
  { swapRateBps }: FakeContracts,
  from: Token,
  to: Token,
  base: bigint,
): bigint =>
  (base * 10n ** BigInt(to.decimals) * swapRateBps) /
  (10n ** BigInt(from.decimals) * FEE_SCALE);

export const publishedSet = ({ isOtherSet, approved }: FakeContracts): string =>
  isOtherSet ? OTHER_SET : [...approved].join(",");

/** The output of a spend, before the pool of the new note takes its fee. */
const broughtBy = (contracts: FakeContracts, spend: Spend): bigint => {
  const { relayFeeBps } = poolOf(contracts, spend.token);
  if (spend.to === "address")
    return spend.withdrawBase - feeOf(spend.withdrawBase, relayFeeBps);
  // The processor rounds its fee up, and the entrypoint rounds its fee down.
  const net = spend.withdrawBase - bpsOfCeil(spend.withdrawBase, relayFeeBps);
  return spend.path === null ? net : swapped(contracts, spend.token, spend.tokenOut, net);
};

/**
 * Returns the reason why the contracts would reject the action now; null when they would accept
 * it.
 */
export const refusalOf = (contracts: FakeContracts, action: Action): SpendRefusal | null => {
  const { deposits, withdrawals, exits, now } = contracts;
  if (action.kind === "deposit") return deposits.has(action.precommitment) ? "spent" : null;
  const isSpent =
    withdrawals.has(nullifierHashOf(action.note.secret)) || exits.has(action.note.label);
  if (action.kind === "exit") {
    if (isSpent) return "spent";
    return action.owner === action.note.exitOwner ? null : "refused";
  }
  const { spend, set, precommitment } = action;
  if (set !== publishedSet(contracts)) return "moved";
  if (isSpent || (precommitment !== null && deposits.has(precommitment))) return "spent";
  if (spend.to === "address") return null;
  return broughtBy(contracts, spend) < spend.minimumOutBase || spend.deadline < now()
    ? "refused"
    : null;
};

const deposit = (
  { deposits, declined, declinedAccounts, blockNumber }: FakeContracts,
  own: { pool: PrivacyPool; amountBase: bigint; precommitment: string },
  by: { depositor: EvmAddress; exitOwner: EvmAddress; txHash: Hex },
): bigint => {
  const valueBase = own.amountBase - feeOf(own.amountBase, own.pool.shieldFeeBps);
  const label = numberOf("label", own.precommitment, deposits.size);
  const commitment = numberOf("commitment", valueBase, label, own.precommitment);
  if (declinedAccounts.has(by.depositor)) declined.add(label);
  deposits.set(own.precommitment, {
    pool: own.pool,
    label,
    commitment,
    valueBase,
    blockNumber,
    ...by,
  });
  return valueBase;
};

/** Executes an action that is not refused. @returns its output in base units */
export const execute = (
  contracts: FakeContracts,
  action: Action,
  { from, txHash }: { readonly from: EvmAddress; readonly txHash: Hex },
): bigint => {
  const { withdrawals, exits, blockNumber } = contracts;
  if (action.kind === "deposit") {
    pay(contracts, action.pool.token, from, -action.amountBase);
    return deposit(contracts, action, { depositor: from, exitOwner: from, txHash });
  }
  const { note } = action;
  if (action.kind === "exit") {
    exits.add(note.label);
    pay(contracts, note.token, action.owner, note.valueBase);
    return note.valueBase;
  }
  const { spend, precommitment, changeId: commitment } = action;
  const brought = broughtBy(contracts, spend);
  withdrawals.set(nullifierHashOf(note.secret), {
    valueBase: spend.withdrawBase,
    commitment,
    txHash,
    blockNumber,
  });
  if (spend.to === "address" || precommitment === null) {
    if (spend.to === "address") pay(contracts, spend.token, spend.recipient, brought);
    return brought;
  }
  const pool = poolOf(contracts, spend.tokenOut);
  return deposit(
    contracts,
    { pool, amountBase: brought, precommitment },
    { depositor: PROCESSOR, exitOwner: spend.exitOwner, txHash },
  );
};

/** The rest note of a deposit after its withdrawals; null when nothing remains. */
const follow = (
  contracts: FakeContracts,
  own: FakeDeposit,
  slot: DepositSlot,
): OpenNote | null => {
  const { withdrawals, exits, approved, declined } = contracts;
  let { valueBase, commitment, txHash, blockNumber: mined } = own;
  let secret = secretOf(slot, own.pool);
  for (let spends = 0; ; spends += 1) {
    const spent = withdrawals.get(nullifierHashOf(secret));
    if (spent === undefined) {
      if (valueBase === 0n || exits.has(own.label)) return null;
      const state = approved.has(own.label)
        ? "approved"
        : declined.has(own.label)
          ? "declined"
          : "pending";
      const { label, depositor, exitOwner, pool } = own;
      const { chainId, token } = pool;
      const read = {
        chainId,
        token,
        id: commitment,
        label,
        valueBase,
        state,
        depositor,
        txHash,
      } as const;
      return { ...read, blockNumber: mined, secret, spends, exitOwner };
    }
    valueBase -= spent.valueBase;
    ({ commitment, txHash, blockNumber: mined } = spent);
    secret = numberOf("change", slot.wallet.mnemonic, own.label, spends);
  }
};

/** The wallet's open notes in a pool, and its first unused deposit number. */
export const notesOf = (
  contracts: FakeContracts,
  wallet: PrivateWalletKey,
  pool: PrivacyPool,
): { notes: OpenNote[]; next: number } => {
  const notes: OpenNote[] = [];
  let next = 0;
  for (let index = 0; index < next + GAP_MAX; index += 1) {
    const slot = { wallet, index };
    const own = contracts.deposits.get(precommitmentOf(slot, pool));
    if (own === undefined) continue;
    next = index + 1;
    const note = follow(contracts, own, slot);
    if (note !== null) notes.push(note);
  }
  return { notes, next };
};

/** Whether the chain has ever shown a note with this id. */
export const hasShown = ({ deposits, withdrawals }: FakeContracts, noteId: string): boolean =>
  [...deposits.values(), ...withdrawals.values()].some(
    ({ commitment }) => commitment === noteId,
  );

export const anonymitySetOf = (
  { deposits, approved, exits }: FakeContracts,
  pool: PrivacyPool,
): number =>
  [...deposits.values()].filter(
    (each) => each.pool === pool && approved.has(each.label) && !exits.has(each.label),
  ).length;

import { createHash, randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { DomainError } from "@/lib/core/errors";
import { bpsOfCeil } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type {
  DepositSlot,
  PrivacyPool,
  PrivateNote,
  PrivateWalletKey,
  Spend,
  SpendOutcome,
  SpendRefusal,
} from "@/lib/ports/privacy";
import type { Call, EvmAddress } from "@/lib/ports/routing";

type Hex = `0x${string}`;
type Transaction = Pick<Call, "to" | "data">;

/** Numbers in a row that may be unused before a scan stops, as in the real engine. */
export const GAP_MAX = 10;
const FEE_SCALE = 10_000n;
/** Deposits notes that come out of spends. */
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

/** What a transaction would do, by its data. */
type Action =
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

export const numberOf = (...parts: readonly unknown[]): string =>
  BigInt(`0x${createHash("sha256").update(parts.map(String).join("|")).digest("hex").slice(0, 60)}`).toString();

const isSame = (one: Token, other: Token): boolean => one.chainId === other.chainId && one.address === other.address;
export const feeOf = (base: bigint, bps: number): bigint => (base * BigInt(bps)) / FEE_SCALE;
const keyOf = (token: Token, owner: EvmAddress): string => `${token.address}:${owner.toLowerCase()}`;
const secretOf = ({ wallet, index }: DepositSlot, { address }: PrivacyPool): string =>
  numberOf("deposit", wallet.mnemonic, address, index);
export const nullifierHashOf = (secret: string): string => numberOf("nullifier", secret);
/** Names the deposit of that number on the chain. */
export const precommitmentOf = (slot: DepositSlot, pool: PrivacyPool): string =>
  numberOf("precommitment", secretOf(slot, pool));

/** Chain, association set and exchange of `createFakePrivacyEngine`, in memory. Every engine of one world sees the same. */
export const createFakePrivacyWorld = (options: {
  readonly pools: readonly PrivacyPool[];
  readonly now?: () => Date;
}) => {
  const { pools, now = () => new Date() } = options;
  const actions = new Map<Hex, Action>();
  const outcomes = new Map<Hex, SpendOutcome>();
  const deposits = new Map<string, FakeDeposit>();
  const withdrawals = new Map<string, Pick<FakeDeposit, "valueBase" | "commitment" | "txHash" | "blockNumber">>();
  const exits = new Set<string>();
  const approved = new Set<string>();
  const declined = new Set<string>();
  const declinedAccounts = new Set<EvmAddress>();
  const balances = new Map<string, bigint>();
  let isOtherSet = false;
  let blockNumber = 0n;
  let swapRateBps = FEE_SCALE;
  let gate: Promise<void> = Promise.resolve();

  const pay = (token: Token, owner: EvmAddress, base: bigint): void => {
    balances.set(keyOf(token, owner), (balances.get(keyOf(token, owner)) ?? 0n) + base);
  };
  const poolOf = (token: Token): PrivacyPool => {
    const pool = pools.find((each) => isSame(each.token, token));
    if (pool === undefined) throw new DomainError("unknown_pool", `There is no privacy pool of ${token.symbol}.`);
    return pool;
  };
  const swapped = (from: Token, to: Token, base: bigint): bigint =>
    (base * 10n ** BigInt(to.decimals) * swapRateBps) / (10n ** BigInt(from.decimals) * FEE_SCALE);
  const publishedSet = (): string => (isOtherSet ? OTHER_SET : [...approved].join(","));

  /** What a spend brings, before the pool of the new note takes its fee. */
  const broughtBy = (spend: Spend): bigint => {
    const { relayFeeBps } = poolOf(spend.token);
    if (spend.to === "address") return spend.withdrawBase - feeOf(spend.withdrawBase, relayFeeBps);
    // The processor's fee is rounded up, the entrypoint's down.
    const net = spend.withdrawBase - bpsOfCeil(spend.withdrawBase, relayFeeBps);
    return spend.path === null ? net : swapped(spend.token, spend.tokenOut, net);
  };

  const refusalOf = (action: Action): SpendRefusal | null => {
    if (action.kind === "deposit") return deposits.has(action.precommitment) ? "spent" : null;
    const isSpent = withdrawals.has(nullifierHashOf(action.note.secret)) || exits.has(action.note.label);
    if (action.kind === "exit") {
      if (isSpent) return "spent";
      return action.owner === action.note.exitOwner ? null : "refused";
    }
    const { spend, set, precommitment } = action;
    if (set !== publishedSet()) return "moved";
    if (isSpent || (precommitment !== null && deposits.has(precommitment))) return "spent";
    if (spend.to === "address") return null;
    return broughtBy(spend) < spend.minimumOutBase || spend.deadline < now() ? "refused" : null;
  };

  const deposit = (
    own: { pool: PrivacyPool; amountBase: bigint; precommitment: string },
    by: { depositor: EvmAddress; exitOwner: EvmAddress; txHash: Hex },
  ): bigint => {
    const valueBase = own.amountBase - feeOf(own.amountBase, own.pool.shieldFeeBps);
    const label = numberOf("label", own.precommitment, deposits.size);
    const commitment = numberOf("commitment", valueBase, label, own.precommitment);
    if (declinedAccounts.has(by.depositor)) declined.add(label);
    deposits.set(own.precommitment, { pool: own.pool, label, commitment, valueBase, blockNumber, ...by });
    return valueBase;
  };

  const execute = (action: Action, from: EvmAddress, txHash: Hex): bigint => {
    if (action.kind === "deposit") {
      pay(action.pool.token, from, -action.amountBase);
      return deposit(action, { depositor: from, exitOwner: from, txHash });
    }
    const { note } = action;
    if (action.kind === "exit") {
      exits.add(note.label);
      pay(note.token, action.owner, note.valueBase);
      return note.valueBase;
    }
    const { spend, precommitment, changeId: commitment } = action;
    const brought = broughtBy(spend);
    withdrawals.set(nullifierHashOf(note.secret), {
      valueBase: spend.withdrawBase,
      commitment,
      txHash,
      blockNumber,
    });
    if (spend.to === "address" || precommitment === null) {
      if (spend.to === "address") pay(spend.token, spend.recipient, brought);
      return brought;
    }
    const pool = poolOf(spend.tokenOut);
    return deposit(
      { pool, amountBase: brought, precommitment },
      { depositor: PROCESSOR, exitOwner: spend.exitOwner, txHash },
    );
  };

  const follow = (own: FakeDeposit, slot: DepositSlot): OpenNote | null => {
    let { valueBase, commitment, txHash, blockNumber: mined } = own;
    let secret = secretOf(slot, own.pool);
    for (let spends = 0; ; spends += 1) {
      const spent = withdrawals.get(nullifierHashOf(secret));
      if (spent === undefined) {
        if (valueBase === 0n || exits.has(own.label)) return null;
        const state = approved.has(own.label) ? "approved" : declined.has(own.label) ? "declined" : "pending";
        const { label, depositor, exitOwner, pool } = own;
        const { chainId, token } = pool;
        const read = { chainId, token, id: commitment, label, valueBase, state, depositor, txHash } as const;
        return { ...read, blockNumber: mined, secret, spends, exitOwner };
      }
      valueBase -= spent.valueBase;
      ({ commitment, txHash, blockNumber: mined } = spent);
      secret = numberOf("change", slot.wallet.mnemonic, own.label, spends);
    }
  };

  return {
    pools,
    poolOf,
    swapped,
    publishedSet,
    refusalOf: ({ data }: Transaction): SpendRefusal | null => {
      const action = actions.get(data);
      return action === undefined ? "refused" : refusalOf(action);
    },
    outcome: (txHash: Hex): SpendOutcome | null => outcomes.get(txHash) ?? null,
    /** Gives an action the data that names it. */
    dataOf: (action: Action): Hex => {
      const data: Hex = `0x${randomBytes(32).toString("hex")}`;
      actions.set(data, action);
      return data;
    },
    notesOf: (wallet: PrivateWalletKey, pool: PrivacyPool): { notes: OpenNote[]; next: number } => {
      const notes: OpenNote[] = [];
      let next = 0;
      for (let index = 0; index < next + GAP_MAX; index += 1) {
        const slot = { wallet, index };
        const own = deposits.get(precommitmentOf(slot, pool));
        if (own === undefined) continue;
        next = index + 1;
        const note = follow(own, slot);
        if (note !== null) notes.push(note);
      }
      return { notes, next };
    },
    /** Whether the chain has ever shown a note with this id. */
    hasShown: (noteId: string): boolean =>
      [...deposits.values(), ...withdrawals.values()].some(({ commitment }) => commitment === noteId),
    anonymitySetOf: (pool: PrivacyPool): number =>
      [...deposits.values()].filter((each) => each.pool === pool && approved.has(each.label) && !exits.has(each.label))
        .length,
    /** Ends no earlier than the next turn of the event loop: a proof takes a while, and can be stopped meanwhile. */
    proofTime: async (): Promise<void> => {
      await gate;
      await setImmediate();
    },

    /** Mines a transaction; one that the contracts refuse is mined and reverts. @returns its hash */
    mine: (from: EvmAddress, { data }: Transaction): Hex => {
      const txHash: Hex = `0x${randomBytes(32).toString("hex")}`;
      const action = actions.get(data);
      blockNumber += 1n;
      const success = action !== undefined && refusalOf(action) === null;
      outcomes.set(txHash, { success, blockNumber, receivedBase: success ? execute(action, from, txHash) : 0n });
      return txHash;
    },
    /** Approves every deposit that waits, and publishes the set. */
    approveDeposits: (): void => {
      for (const { label } of deposits.values()) if (!declined.has(label)) approved.add(label);
      isOtherSet = false;
    },
    /** Deposits that the account makes from now on are declined. */
    declineDepositsOf: (account: EvmAddress): void => {
      declinedAccounts.add(account);
    },
    /** Publishes a set that no proof knows; `approveDeposits` publishes the right one again. */
    publishOtherSet: (): void => {
      isOtherSet = true;
    },
    /** What the exchange brings of what it quotes from now on. */
    setSwapRateBps: (bps: number): void => {
      swapRateBps = BigInt(bps);
    },
    /** Proofs that begin now wait. @returns lets them end */
    holdProofs: (): (() => void) => {
      let release = (): void => undefined;
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    /** May be below zero: nobody is asked for cover. */
    balanceOf: (token: Token, owner: EvmAddress): bigint => balances.get(keyOf(token, owner)) ?? 0n,
  };
};

export type FakePrivacyWorld = ReturnType<typeof createFakePrivacyWorld>;

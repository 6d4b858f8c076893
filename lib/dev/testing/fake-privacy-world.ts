import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { bindDeps } from "@/lib/core/bind-deps";
import type {
  PrivacyPool,
  Spend,
  SpendOutcome,
  SpendRefusal,
  SpentBy,
} from "@/lib/money/ports/privacy";
import type { Call, EvmAddress } from "@/lib/core/evm";
import {
  anonymitySetOf,
  balanceOf,
  execute,
  FEE_SCALE,
  hasShown,
  notesOf,
  poolOf,
  publishedSet,
  refusalOf,
  swapped,
  type Action,
  type FakeContracts,
} from "./fake-privacy-contracts";

type Hex = `0x${string}`;
type Transaction = Pick<Call, "to" | "data">;

/** The effect of a spend on the chain, as text. */
const effectOf = (spend: Spend): string =>
  [
    ...[spend.noteId, spend.withdrawBase],
    ...(spend.to === "note"
      ? [spend.slot.wallet.id, spend.slot.index, spend.tokenOut.address]
      : [spend.recipient]),
  ].join(" ");

/**
 * Chain, association set and exchange of `createFakePrivacyEngine`, in memory. All engines of one
 * world share it.
 */
export const createFakePrivacyWorld = (options: {
  readonly pools: readonly PrivacyPool[];
  readonly now?: () => Date;
}) => {
  const { pools, now = () => new Date() } = options;
  const contracts: FakeContracts = {
    ...{
      pools,
      now,
      deposits: new Map(),
      withdrawals: new Map(),
      exits: new Set(),
      balances: new Map(),
    },
    ...{ approved: new Set(), declined: new Set(), declinedAccounts: new Set() },
    ...{ isOtherSet: false, blockNumber: 0n, swapRateBps: FEE_SCALE },
  };
  const actions = new Map<Hex, Action>();
  const outcomes = new Map<Hex, SpendOutcome>();
  const spends: { readonly spend: Spend; readonly txHash: Hex }[] = [];
  let gate: Promise<void> = Promise.resolve();

  return {
    pools,
    poolOf: bindDeps(contracts, poolOf),
    swapped: bindDeps(contracts, swapped),
    publishedSet: bindDeps(contracts, publishedSet),
    refusalOf: ({ data }: Transaction): SpendRefusal | null => {
      const action = actions.get(data);
      return action === undefined ? "refused" : refusalOf(contracts, action);
    },
    spentBy: (spend: Spend): SpentBy | null => {
      const found = spends.find((each) => effectOf(each.spend) === effectOf(spend));
      return found === undefined ? null : { txHash: found.txHash, isFinal: true };
    },
    outcome: (txHash: Hex): SpendOutcome | null => outcomes.get(txHash) ?? null,
    /** Returns the call data that identifies an action. */
    dataOf: (action: Action): Hex => {
      const data: Hex = `0x${randomBytes(32).toString("hex")}`;
      actions.set(data, action);
      return data;
    },
    notesOf: bindDeps(contracts, notesOf),
    hasShown: bindDeps(contracts, hasShown),
    anonymitySetOf: bindDeps(contracts, anonymitySetOf),
    /**
     * Waits while `holdProofs` holds proofs. Ends no earlier than the next turn of the event loop,
     * because a proof takes time and can be stopped.
     */
    proofTime: async (): Promise<void> => {
      await gate;
      await setImmediate();
    },

    /**
     * Mines a transaction; one that the contracts refuse is mined and reverts.
     * @returns its hash
     */
    mine: (from: EvmAddress, { data }: Transaction): Hex => {
      const txHash: Hex = `0x${randomBytes(32).toString("hex")}`;
      const action = actions.get(data);
      contracts.blockNumber += 1n;
      const { blockNumber } = contracts;
      const success = action !== undefined && refusalOf(contracts, action) === null;
      const receivedBase = success ? execute(contracts, action, { from, txHash }) : 0n;
      if (success && action.kind === "spend") spends.push({ spend: action.spend, txHash });
      outcomes.set(txHash, { success, blockNumber, receivedBase });
      return txHash;
    },
    /** Approves all waiting deposits, and publishes the set. */
    approveDeposits: (): void => {
      const { deposits, declined, approved } = contracts;
      for (const { label } of deposits.values()) if (!declined.has(label)) approved.add(label);
      contracts.isOtherSet = false;
    },
    /** Declines the deposits that the account makes from now on. */
    declineDepositsOf: (account: EvmAddress): void => {
      contracts.declinedAccounts.add(account);
    },
    /** Publishes an unrelated set; `approveDeposits` publishes the right one again. */
    publishOtherSet: (): void => {
      contracts.isOtherSet = true;
    },
    /** Sets the part of its quotes that the exchange pays out, in basis points. */
    setSwapRateBps: (bps: number): void => {
      contracts.swapRateBps = BigInt(bps);
    },
    /** Makes proofs that begin now wait. @returns a function that releases them */
    holdProofs: (): (() => void) => {
      let release = (): void => undefined;
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    balanceOf: bindDeps(contracts, balanceOf),
  };
};

export type FakePrivacyWorld = ReturnType<typeof createFakePrivacyWorld>;

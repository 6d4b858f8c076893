import { compareAmounts, sumAmounts } from "@/components/features/swap/decimal";
import { isSameText } from "@/lib/core/same-text";
import type { MovePromise, Payer, Prepared } from "./types";

/**
 * A fact that is worse after the preparation than on the receipt that the person approved:
 * `minimum`: less must arrive; `recipient`: another address, chain or token receives it;
 * `networkFee`: a wallet pays the fee, and the receipt did not say so; `source`: the simulation
 * takes more than the receipt says, or from another balance; `warning`: a warning that the receipt
 * did not show.
 */
export type BrokenPromise = "minimum" | "recipient" | "networkFee" | "source" | "warning";

type Facts = Pick<Prepared, "to" | "warnings" | "networkFees" | "simulation">;

type Check = (promise: MovePromise, prepared: Facts) => boolean;

const arrivesElsewhere: Check = ({ to }, { to: now }) =>
  !isSameText(to.address, now.address) ||
  to.chainId !== now.chainId ||
  !isSameText(to.token.address, now.token.address);

const isNotWallet = (payer: Payer): boolean => payer !== "wallet";

/** Whether a wallet pays a network fee although the receipt did not say so. */
const costsMore: Check = ({ from, networkFees }, prepared) =>
  prepared.networkFees.some(({ walletAddress, chainId, paidBy }) => {
    const promised = from.flatMap((source, index) =>
      isSameText(source.address, walletAddress) && source.chainId === chainId
        ? [networkFees[index] ?? null]
        : [],
    );
    return paidBy === "wallet" && (promised.length === 0 || promised.some(isNotWallet));
  });

const takesMore: Check = ({ from }, { simulation }) =>
  simulation.balanceChanges.some(({ walletAddress, chainId, token, change }) => {
    if (!change.startsWith("-")) return false;
    const promised = from.filter(
      (source) =>
        isSameText(source.address, walletAddress) &&
        source.chainId === chainId &&
        isSameText(source.token.address, token.address),
    );
    const amount = sumAmounts(promised.map((source) => source.amount));
    return compareAmounts(change.slice(1), amount) === 1;
  });

const warnsAnew: Check = ({ warnings }, prepared) =>
  prepared.warnings.some(
    ({ code, path }) => !warnings.some((seen) => seen.code === code && seen.path === path),
  );

const CHECKS = {
  minimum: ({ to }, { to: now }) => compareAmounts(now.minAmount, to.minAmount) === -1,
  recipient: arrivesElsewhere,
  networkFee: costsMore,
  source: takesMore,
  warning: warnsAnew,
} as const satisfies Record<BrokenPromise, Check>;

/**
 * Compares the prepared movement with the receipt that the person approved.
 * @returns the facts that are worse now; empty when no fact is worse
 */
export const brokenPromises = (promise: MovePromise, prepared: Facts): BrokenPromise[] =>
  (Object.keys(CHECKS) as BrokenPromise[]).filter((fact) => CHECKS[fact](promise, prepared));

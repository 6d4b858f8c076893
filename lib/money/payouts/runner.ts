import type { Clock } from "@/lib/core/clock";
import type { AccountPayoutRunner } from "./accounts/runner";
import type { WalletsPayout } from "./payout";
import type { PayoutsRepository } from "./repository";
import type { FundingStep } from "./wallets/await-funding";

/**
 * The result of a turn: the payout has ended, or its next turn is due after `againInMs`
 * milliseconds. `failure` is the message of an error that no outage explains.
 */
export type PayoutTurn =
  | { readonly done: true }
  | { readonly done: false; readonly againInMs: number; readonly failure?: string };

export interface WalletBatchesDriver {
  /**
   * Runs one turn of a payout whose status is processing. `signal` aborts when the job's lease is
   * lost or the worker stops.
   */
  drive(payout: WalletsPayout, signal: AbortSignal): Promise<PayoutTurn>;
}

export interface PayoutRunnerDeps {
  readonly repository: Pick<PayoutsRepository, "find" | "begin">;
  readonly accounts: AccountPayoutRunner;
  readonly funding: FundingStep;
  readonly walletBatches: WalletBatchesDriver;
  readonly clock: Clock;
}

/**
 * Creates the runner of accepted payouts of both kinds. Any instance can repeat a turn after a
 * crash.
 */
export const createPayoutRunner = ({
  repository,
  accounts,
  funding,
  walletBatches,
  clock,
}: PayoutRunnerDeps) => ({
  run: async (payoutId: string, signal: AbortSignal): Promise<PayoutTurn> => {
    const found = await repository.find(payoutId);
    if (found?.status === "pending") await repository.begin(found, clock.now());
    const payout = found?.status === "pending" ? await repository.find(payoutId) : found;
    if (payout?.status !== "processing") return { done: true };
    if (payout.kind === "wallets") {
      const turn = payout.subStatus === "bridging" ? await funding.step(payout) : "ready";
      if (turn === "ended") return { done: true };
      return turn === "ready" ? walletBatches.drive(payout, signal) : { done: false, ...turn };
    }
    await accounts.run(payout);
    return { done: true };
  },
});

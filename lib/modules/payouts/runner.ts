import type { Clock } from "@/lib/core/clock";
import type { AccountPayoutRunner } from "./accounts/runner";
import type { WalletsPayout } from "./payout";
import type { PayoutsRepository } from "./repository";
import type { FundingStep } from "./wallets/await-funding";

/** Either the payout has ended, or it is to be looked at again after so many milliseconds. */
export type PayoutTurn = { readonly done: true } | { readonly done: false; readonly againInMs: number };

/** Carries the batches of a payout to wallets on until each of them has ended, and then ends the payout. */
export interface WalletBatchesDriver {
  /** `payout` is processing. `signal` aborts when the lease is lost or the worker stops. */
  drive(payout: WalletsPayout, signal: AbortSignal): Promise<PayoutTurn>;
}

export interface PayoutRunnerDeps {
  readonly repository: Pick<PayoutsRepository, "find" | "begin">;
  readonly accounts: AccountPayoutRunner;
  readonly funding: FundingStep;
  readonly walletBatches: WalletBatchesDriver;
  readonly clock: Clock;
}

/** Pays what was accepted, each kind its own way. A turn may be repeated after any crash, by any instance. */
export const createPayoutRunner = ({ repository, accounts, funding, walletBatches, clock }: PayoutRunnerDeps) => ({
  /** One turn of the payout's job. */
  run: async (payoutId: string, signal: AbortSignal): Promise<PayoutTurn> => {
    const found = await repository.find(payoutId);
    if (found?.status === "pending") await repository.begin(payoutId, clock.now());
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

/**
 * Waits for the operation that brings the missing money to a payout's chain, and then holds the
 * payout's money.
 */
import { bindDeps } from "@/lib/core/bind-deps";
import { isDomainError, type ErrorCode } from "@/lib/core/errors";
import { isFinal } from "@/lib/core/status";
import {
  toOperation,
  type OperationsService,
  type Operation,
} from "@/lib/money/operations/service";
import type { PayoutsContext } from "../context";
import { FUNDING_FAILED } from "../errors";
import type { WalletsPayout } from "../payout";
import { outflowOf } from "./money";
import { feeOf } from "./pricing";
import type { WalletPayout } from "./wallet-payout";

export interface FundingStepDeps extends PayoutsContext {
  readonly operations: Pick<OperationsService, "get">;
}

/**
 * The result of a turn: the payout can continue, has ended, or has its next turn after `againInMs`
 * milliseconds.
 */
export type FundingTurn = "ready" | "ended" | { readonly againInMs: number };

const AGAIN_MS = 1000;

/**
 * Codes of errors that end the payout, because they do not go away when the service tries again to
 * hold the money.
 */
const PERMANENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "insufficient_balance",
  "insufficient_reserves",
  "sponsor_budget_exceeded",
]);

const failed = async (
  deps: FundingStepDeps,
  payout: WalletsPayout,
  code: string,
  message: string,
): Promise<FundingTurn> => {
  await deps.walletsRepository.failFunding(
    payout,
    { code, message, retryable: true },
    deps.clock.now(),
  );
  return "ended";
};

/**
 * Ends the payout as failed, because its funding operation did not bring the missing money. The
 * message contains the operation's text, which says where the money is.
 */
const notFunded = (
  deps: FundingStepDeps,
  payout: WalletsPayout,
  operation: Operation,
): Promise<FundingTurn> =>
  failed(
    deps,
    payout,
    FUNDING_FAILED,
    `The missing part did not come to the chain (${operation.id} is ${operation.status}), so nothing was paid. ${toOperation(operation, deps.registry).outcome.nextAction}`,
  );

const hold = async (
  deps: FundingStepDeps,
  payout: WalletsPayout,
  walletPayout: WalletPayout,
): Promise<FundingTurn> => {
  const { id: payoutId, projectId } = payout;
  const batches = await deps.walletsRepository.queuedBatches(projectId, payoutId);
  const now = deps.clock.now();
  if (batches.length === 0) {
    await deps.walletsRepository.skipFunding(payout, now);
    return "ready";
  }
  const { costs } = await feeOf(deps, { payoutId, chainId: walletPayout.chainId, batches });
  try {
    await deps.money.withHolding(
      { payoutId, projectId, account: null, batches, costs },
      outflowOf(walletPayout),
      (holding) => deps.walletsRepository.beginFunded(payout, holding, now),
    );
    return "ready";
  } catch (error) {
    // Any other error is temporary, so the job tries again. A shortage with `retryAfterSeconds` is
    // temporary too, because screening of deposits that arrived may not have finished.
    if (
      !isDomainError(error) ||
      !PERMANENT.has(error.code) ||
      error.retryAfterSeconds !== undefined
    )
      throw error;
    const { name } = deps.registry.get(walletPayout.chainId);
    return failed(
      deps,
      payout,
      error.code,
      `The missing part arrived in the treasury ${walletPayout.fromAddress} on ${name}, and the payout cannot be made all the same: ${error.message} All of the money is in the treasury.`,
    );
  }
};

const step = async (deps: FundingStepDeps, payout: WalletsPayout): Promise<FundingTurn> => {
  const walletPayout = (await deps.rows.walletPayouts(payout.projectId, [payout.id])).get(
    payout.id,
  );
  if (walletPayout?.fundedBy == null)
    throw new Error(`${payout.id} waits for money, and no operation brings any.`);
  const operation = await deps.operations.get(payout.projectId, walletPayout.fundedBy);
  if (!isFinal(operation.status)) return { againInMs: AGAIN_MS };
  if (operation.status === "completed" && operation.subStatus === "full")
    return hold(deps, payout, walletPayout);
  return notFunded(deps, payout, operation);
};

export const createFundingStep = (deps: FundingStepDeps) => {
  return { step: bindDeps(deps, step) };
};

export type FundingStep = ReturnType<typeof createFundingStep>;

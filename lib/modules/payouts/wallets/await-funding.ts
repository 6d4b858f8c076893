/** Waits for the operation that brings the missing money to the payout's chain, and then holds the payout's money. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { Clock } from "@/lib/core/clock";
import { isDomainError, type ErrorCode } from "@/lib/core/errors";
import { isFinal } from "@/lib/core/status";
import { toOperation, type OperationsService, type Operation } from "@/lib/modules/operations/service";
import type { WalletsPayout } from "../payout";
import { outflowOf, type PayoutMoney } from "./money";
import { feeOf, type FeeDeps } from "./pricing";
import type { WalletPayoutsReader } from "./read-repository";
import type { WalletPayoutsRepository } from "./repository";
import type { WalletPayout } from "./wallet-payout";

export interface FundingStepDeps extends FeeDeps {
  readonly registry: ChainRegistry;
  readonly operations: Pick<OperationsService, "get">;
  readonly rows: Pick<WalletPayoutsReader, "own">;
  readonly repository: WalletPayoutsRepository;
  readonly money: PayoutMoney;
  readonly clock: Clock;
}

/** The payout can continue, has ended, or must be checked again after `againInMs` milliseconds. */
export type FundingTurn = "ready" | "ended" | { readonly againInMs: number };

const AGAIN_MS = 1000;

/** Errors after which a retry is useless. */
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
  await deps.repository.failFunding(payout, { code, message, retryable: true }, deps.clock.now());
  return "ended";
};

/** Ends the payout as failed. Its message repeats the operation's text about where the money is. */
const notFunded = (deps: FundingStepDeps, payout: WalletsPayout, operation: Operation): Promise<FundingTurn> =>
  failed(
    deps,
    payout,
    "funding_failed",
    `The missing part did not come to the chain (${operation.id} is ${operation.status}), so nothing was paid. ${toOperation(operation, deps.registry).outcome.nextAction}`,
  );

const hold = async (deps: FundingStepDeps, payout: WalletsPayout, own: WalletPayout): Promise<FundingTurn> => {
  const { id: payoutId, projectId } = payout;
  const batches = await deps.repository.queuedBatches(projectId, payoutId);
  const now = deps.clock.now();
  if (batches.length === 0) {
    await deps.repository.skipFunding(payout, now);
    return "ready";
  }
  const { costs } = await feeOf(deps, { payoutId, chainId: own.chainId, batches });
  try {
    await deps.money.withHolding({ payoutId, projectId, account: null, batches, costs }, outflowOf(own), (holding) =>
      deps.repository.beginFunded(payout, holding, now),
    );
    return "ready";
  } catch (error) {
    // Deposits that arrived may not be screened yet; then the payout is tried again.
    if (!isDomainError(error) || !PERMANENT.has(error.code) || error.retryAfterSeconds !== undefined) throw error;
    const { name } = deps.registry.get(own.chainId);
    return failed(
      deps,
      payout,
      error.code,
      `The missing part arrived in the treasury ${own.fromAddress} on ${name}, and the payout cannot be made all the same: ${error.message} All of the money is in the treasury.`,
    );
  }
};

/** One turn of a payout in the state `processing` / `bridging`. */
const step = async (deps: FundingStepDeps, payout: WalletsPayout): Promise<FundingTurn> => {
  const own = (await deps.rows.own(payout.projectId, [payout.id])).get(payout.id);
  if (own?.fundedBy == null) throw new Error(`${payout.id} waits for money, and no operation brings any.`);
  const operation = await deps.operations.get(payout.projectId, own.fundedBy);
  if (!isFinal(operation.status)) return { againInMs: AGAIN_MS };
  if (operation.status === "completed" && operation.subStatus === "full") return hold(deps, payout, own);
  return notFunded(deps, payout, operation);
};

export const createFundingStep = (deps: FundingStepDeps) => {
  return { step: bindDeps(deps, step) };
};

export type FundingStep = ReturnType<typeof createFundingStep>;

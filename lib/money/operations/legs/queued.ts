import { addSeconds } from "@/lib/core/clock";
import { DomainError, isDomainError } from "@/lib/core/errors";
import {
  type Eip2612Permit,
  type ManagedAccount,
  permittedCalls,
  type SignedPermit,
  validitySeconds,
} from "@/lib/chain/smart-accounts/service";
import { NOT_EVALUATED } from "@/lib/money/operations/parameters";
import type { LegChange } from "@/lib/money/operations/leg";
import { sponsoredCostOf } from "@/lib/books/sponsorship/service";
import type { Call, EvmAddress } from "@/lib/core/evm";
import type { LegTransactions } from "@/lib/money/ports/routing";
import {
  fail,
  move,
  paidByLostMove,
  REPLACED,
  type Step,
  type StepResult,
  waitsForGas,
  wasExecutedBefore,
} from "./step";

/**
 * Seconds from the operation's acceptance during which a queued leg may be signed. Later, for
 * example after an outage of the workers or the chain, the approved price is outdated.
 */
const QUEUED_SECONDS_MAX = 600;

/**
 * Codes of errors that end a queued leg as failed, because a repeated step cannot fix them. The
 * leg's money is then still in the wallet.
 */
const PERMANENT = new Set<string>([
  "no_route",
  "insufficient_liquidity",
  "insufficient_balance",
  "note_spent",
  "simulation_failed",
  "sponsor_budget_exceeded",
  "unsupported_chain",
  "unsupported_token",
]);

/**
 * Runs a step of a queued leg: checks that the leg may still be sent, and signs its calls. The
 * signed operation is stored before it can be broadcast.
 */
export const queued = async (step: Step): Promise<StepResult> => {
  const { leg, operation } = step;
  if (!(await step.isSigningAllowed(operation))) return fail(step, NOT_EVALUATED);
  const walletId = leg.executorWalletId ?? leg.walletId;
  const account = await step.managedAccount(operation.projectId, walletId);
  if (account === null) throw new Error(`Wallet ${walletId} has no managed key.`);
  if (!isEvaluatedAccount(step, account)) return fail(step, NOT_EVALUATED);
  const lost = await paidByLostMove(step);
  if (lost !== null) return fail(step, lost);
  if (
    step.clock.now() >
    addSeconds(operation.acceptedAt ?? operation.createdAt, QUEUED_SECONDS_MAX)
  )
    return endLate(step, account);
  if (await waitsForGas(step)) return "waits";
  if (!(await mayDeploy(step, account.address))) return "waits";
  const stopped = await step.screenAgain(operation, leg, "sign");
  if (stopped !== null) return fail(step, stopped);
  if (leg.gas === null) throw new Error(`Leg ${leg.id} has no gas limits.`);
  try {
    const built =
      leg.via === "permit" ? await buildPermitted(step, account) : await buildOwn(step);
    const head = await step.chains.head(leg.sourceChainId);
    const seconds = validitySeconds(step.chains.blockTimeMs(leg.sourceChainId));
    const validUntil = addSeconds(new Date(Number(head.timestamp) * 1000), seconds);
    const { operation: userOperation, userOpHash } = await step.smartAccounts.sign({
      account,
      chainId: leg.sourceChainId,
      legId: leg.id,
      calls: built.calls,
      gas: leg.gas,
      validUntil,
    });
    const change: LegChange = {
      userOperation,
      userOpHash,
      validUntil,
      fillDeadline: built.fillDeadline === null ? null : new Date(built.fillDeadline * 1000),
      fromBlock: step.smartAccounts.searchFrom(leg.sourceChainId, head.number),
    };
    // Fees may have risen since the operation was accepted, so the sponsor's budget must cover the
    // signed cost.
    const maxGasWei = sponsoredCostOf(userOperation) ?? 0n;
    return await move(
      step,
      "submitted",
      "leg.submitted",
      change,
      { userOpHash },
      { maxGasWei },
    );
  } catch (error) {
    if (!isDomainError(error) || !PERMANENT.has(error.code)) throw error;
    return fail(step, {
      code: error.code,
      message: `${error.message} Nothing left the wallet.`,
      retryable: true,
    });
  }
};

/**
 * Ends a leg that was not signed in time. A restored database may show a leg as queued although
 * the chain has executed it. So the chain is checked before the failure allows a retry.
 */
const endLate = async (step: Step, account: ManagedAccount): Promise<StepResult> => {
  const { leg, operation } = step;
  const executed = await wasExecutedBefore(step, account);
  if (executed === "not final") return "waits";
  if (executed === "final") return fail(step, REPLACED);
  const why = operation.gasWaits.some(({ chainId }) => chainId === leg.sourceChainId)
    ? "The network fee stayed above the chain's cap, so it could not be sent within ten minutes of its approval."
    : "It could not be sent within ten minutes of its approval.";
  return fail(step, {
    code: "not_sent_in_time",
    message: `${why} Nothing left the wallet.`,
    retryable: true,
  });
};

/**
 * Whether the signing account has the address that the policies evaluated. For a permit leg this
 * is the account that the permit names. For a public exit it is the account that receives the
 * money.
 */
const isEvaluatedAccount = (
  { leg, operation, request }: Step,
  { address }: ManagedAccount,
): boolean => {
  const own =
    operation.kind === "public_exit" ? request.destination.recipient : leg.walletAddress;
  return address.toLowerCase() === (leg.permit?.spender ?? own).toLowerCase();
};

type Built = Pick<LegTransactions, "calls" | "fillDeadline">;

const buildOwn = ({ routing, request, routeLeg, signal }: Step): Promise<Built> =>
  routing.build(request, routeLeg, signal);

/**
 * Builds one atomic batch, in which the treasury takes the wallet's tokens by permit and makes the
 * leg's calls.
 */
const buildPermitted = async (step: Step, account: ManagedAccount): Promise<Built> => {
  const { routing, request, routeLeg, signal, leg } = step;
  const { permit } = leg;
  if (permit === null) throw new Error(`Leg ${leg.id} has no permit.`);
  const [built, isAllowed] = await Promise.all([
    routing.build(request, routeLeg, signal, { executor: account.address }),
    requireUsable(step, permit),
  ]);
  const transferTo = routeLeg.kind === "transfer" ? request.destination.recipient : null;
  const calls = permittedCalls(permit, { calls: built.calls, transferTo, isAllowed });
  if (transferTo === null) await requireEven(step, account, calls);
  return { calls, fillDeadline: built.fillDeadline };
};

/**
 * Simulates the whole batch with the wallet's permit, and throws when the treasury's balance
 * changes. Some tokens do not revert when a permit or transfer fails, and the later calls would
 * then spend the treasury's tokens.
 */
const requireEven = async (
  step: Step,
  account: ManagedAccount,
  calls: readonly Call[],
): Promise<void> => {
  const { smartAccounts, leg, request, routeLeg } = step;
  const source = request.sources[routeLeg.sourceIndex];
  if (source === undefined) throw new Error("A leg names a source that was not asked for.");
  const batch = { account, chainId: leg.sourceChainId, legId: leg.id, calls };
  const { changes } = await smartAccounts.simulate(batch, [
    { owner: account.address, token: source.token },
  ]);
  if (changes[0] === 0n) return;
  throw new DomainError(
    "simulation_failed",
    `The wallet can no longer send the whole amount of ${source.token.symbol}: a part of it was spent meanwhile, or the token's contract keeps a part of each transfer. Nothing was sent.`,
  );
};

/**
 * Checks that the permit can be used, and returns whether its allowance is already set.
 * @throws DomainError `simulation_failed`, `chain_unavailable`
 */
const requireUsable = async (step: Step, permit: SignedPermit): Promise<boolean> => {
  const { smartAccounts, leg, chains } = step;
  const chainId = leg.sourceChainId;
  const [head, { isAllowed, obstacle }] = await Promise.all([
    chains.head(chainId),
    permit.standard === "eip2612"
      ? tokenAllows(step, permit)
      : smartAccounts.permit2
          .obstacle(chainId, permit)
          .then((found) => ({ isAllowed: false, obstacle: found })),
  ]);
  if (isAllowed) return true;
  if (obstacle !== null) throw new DomainError("simulation_failed", obstacle);
  if (head.timestamp >= permit.deadline)
    throw new DomainError(
      "simulation_failed",
      "The wallet's permit has expired. Nothing was sent; the money is in the wallet. Ask for a new quote.",
    );
  return false;
};

/**
 * Whether the token already has the permit's allowance. An EIP-2612 permit is public once a node
 * has it, and anybody can submit it. The allowance that the wallet signed is then set, and the
 * permit must not be submitted again.
 */
const tokenAllows = async (
  { smartAccounts, leg }: Step,
  { token, owner, spender, value, nonce }: Eip2612Permit,
): Promise<{ isAllowed: boolean; obstacle: string | null }> => {
  const [allowed, next] = await Promise.all([
    smartAccounts.allowance(leg.sourceChainId, token, owner, spender),
    smartAccounts.permits.nonceOf(leg.sourceChainId, token, owner),
  ]);
  const obstacle =
    next === nonce ? null : "Another permit of the wallet was used before this one.";
  return { isAllowed: allowed >= value, obstacle };
};

/**
 * Whether the leg may be signed: the account is deployed already, or this leg has claimed its
 * deployment. EntryPoint rejects a second deployment, so only one operation of the account may
 * deploy it.
 */
const mayDeploy = async (
  { smartAccounts, deployments, leg, clock }: Step,
  address: EvmAddress,
): Promise<boolean> =>
  (await smartAccounts.isDeployed(leg.sourceChainId, address)) ||
  deployments.claim({
    chainId: leg.sourceChainId,
    address,
    claimant: leg.id,
    now: clock.now(),
  });

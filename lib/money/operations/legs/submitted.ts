import { isDomainError } from "@/lib/core/errors";
import { gasOfReplaced, type ManagedAccount } from "@/lib/chain/smart-accounts/service";
import { sponsoredCostOf } from "@/lib/books/sponsorship/service";
import {
  PreVerificationGasTooLowError,
  WaitsForTurnError,
  type UserOperation,
} from "@/lib/chain/ports/bundler";
import type { LegChange } from "@/lib/money/operations/leg";
import type { Failure } from "@/lib/money/operations/rows";
import {
  endGasWait,
  fail,
  feeChange,
  lostFeeChange,
  type MinedSource,
  move,
  movedNothing,
  NOTHING_MOVED,
  REPLACED,
  type Step,
  type StepResult,
  waitsForGas,
} from "./step";
import type { RouteLeg } from "@/lib/money/ports/routing";
import { readAgreedReceipt, readReceipt } from "./source";
import { followWallet, lookAtUnknown } from "./wallet-transactions";

const SUBMIT_AGAIN_MS = 4000;
const SIGNED_AGAIN_MAX = 3;
/**
 * Seconds that are added to the end of the validity, because block timestamps may differ slightly
 * from the real time.
 */
const VALIDITY_MARGIN_SECONDS = 15;

const REVERTED: Readonly<Record<RouteLeg["kind"], string>> = {
  transfer:
    "The chain refused the transfer: the token or the recipient's contract did not take it, or a balance was gone. The money is in the wallet.",
  swap: "The chain refused the swap: its price fell below the minimum, or a balance was gone. The money is in the wallet.",
  bridge:
    "The chain refused the way into the bridge: a price fell below its minimum, or a balance was gone. The money is in the wallet.",
};

const EXPIRED: Failure = {
  code: "source_expired",
  message:
    "The chain did not take the transaction in time. It can no longer be executed; the money is in the wallet.",
  retryable: true,
};

/**
 * Submits the signed operation until it is mined or can no longer be mined. Transactions that a
 * wallet sends are only looked for.
 */
export const submitted = async (step: Step): Promise<StepResult> => {
  const { leg } = step;
  // Transactions with an unknown nonce are looked up first, because the leg's receipt needs their
  // nonces.
  const looked = leg.via === "transaction" ? await lookAtUnknown(step) : null;
  if (looked?.learned) return "moved";
  const receipt = await readReceipt(step);
  if (receipt !== null) {
    await endGasWait(step);
    return seen(step, receipt);
  }
  if (leg.via === "transaction") return followWallet(step, looked);
  const failure = await whyNever(step);
  if (failure === REPLACED) return fail(step, failure, await replacedChange(step));
  if (failure !== null)
    return fail(
      step,
      (await whyNotSent(step, failure)) ?? failure,
      await lostFeeChange(step, 0n),
    );
  return offer(step);
};

/**
 * The network fee of the operation that the chain executed instead of the signed one. The sponsor
 * paid it, so it is charged to the sponsor's budget.
 */
const replacedChange = async (step: Step): Promise<LegChange> => {
  const { leg, operation, smartAccounts, clock } = step;
  const account = userOperationOf(step).sender;
  const asked = {
    chainId: leg.sourceChainId,
    account,
    names: [leg.id],
    since: operation.createdAt,
  };
  const since = leg.validUntil ?? clock.now();
  return lostFeeChange(
    step,
    await gasOfReplaced(smartAccounts, asked, { since, now: clock.now() }),
  );
};

/**
 * The screening's failure when it explains why an operation expired: screening may have stopped
 * the submission. Null for any other failure.
 */
const whyNotSent = async (
  { operation, leg, screenAgain }: Step,
  failure: Failure,
): Promise<Failure | null> =>
  failure === EXPIRED ? screenAgain(operation, leg, "expired") : null;

const offer = async (step: Step): Promise<StepResult> => {
  const { leg, operation, submittedAt } = step;
  const now = step.clock.now().getTime();
  if (now - (submittedAt.get(leg.id) ?? 0) < SUBMIT_AGAIN_MS) return "waits";
  if (await waitsForGas(step)) return "waits";
  // Null for an account with an external owner. This owner can use the operation's nonce for
  // another operation, which is the reason for `isHeldElsewhere` below.
  const account = await step.managedAccount(
    operation.projectId,
    leg.executorWalletId ?? leg.walletId,
  );
  noteOffer(submittedAt, leg.id, now);
  if ((await step.screenAgain(operation, leg, "broadcast")) !== null) return "waits";
  try {
    const options = { isHeldElsewhere: account === null, validUntil: leg.validUntil };
    await step.smartAccounts.submit(leg.sourceChainId, userOperationOf(step), options);
  } catch (error) {
    // The submission time is deleted, so that the next step submits again and learns whether the
    // operation is next in its account's queue.
    if (error instanceof WaitsForTurnError) submittedAt.delete(leg.id);
    if (error instanceof PreVerificationGasTooLowError && account !== null)
      return signAgain(step, account, error.needed);
    // An error of the submission is not final, because an earlier submission may still be mined.
    // Only a receipt or the end of the validity is final.
    if (!isDomainError(error)) throw error;
  }
  return "waits";
};

/**
 * Signs the operation again with the gas that the bundler requires. A node may have the rejected
 * operation nevertheless. Both operations have the same nonce and calls, and later steps look for
 * the receipts of both.
 */
const signAgain = async (
  step: Step,
  account: ManagedAccount,
  preVerificationGas: bigint,
): Promise<StepResult> => {
  const { leg, smartAccounts, legs, submittedAt, clock } = step;
  const { validUntil, userOpHash, earlierUserOpHashes } = leg;
  if (
    earlierUserOpHashes.length >= SIGNED_AGAIN_MAX ||
    validUntil === null ||
    userOpHash === null
  )
    return "waits";
  if (!(await step.isSigningAllowed(step.operation))) return "waits";
  const operation = userOperationOf(step);
  const signed = await smartAccounts.signAgain(account, leg.sourceChainId, {
    operation,
    preVerificationGas,
    validUntil,
  });
  // The stored operation was changed after signing, so it cannot be signed again and can only
  // expire.
  if (signed === null) return "waits";
  const change = {
    userOperation: signed.operation,
    userOpHash: signed.userOpHash,
    earlierUserOpHashes: [...earlierUserOpHashes, userOpHash],
  };
  try {
    await legs.replaceOperation(
      leg,
      change,
      sponsoredCostOf(signed.operation) ?? 0n,
      clock.now(),
    );
  } catch (error) {
    // The budget does not cover the new operation, so the earlier signed operation remains. The
    // bundler may accept it later, when it requires less gas.
    if (isDomainError(error) && error.code === "sponsor_budget_exceeded") return "waits";
    throw error;
  }
  submittedAt.delete(leg.id);
  return "moved";
};

/**
 * Stores the time of the leg's last submission. Removes entries older than `SUBMIT_AGAIN_MS`,
 * because other instances may drive those legs now.
 */
const noteOffer = (submittedAt: Map<string, number>, legId: string, now: number): void => {
  submittedAt.delete(legId);
  for (const [other, at] of submittedAt) {
    if (now - at < SUBMIT_AGAIN_MS) break;
    submittedAt.delete(other);
  }
  submittedAt.set(legId, now);
};

const userOperationOf = ({ leg }: Step): UserOperation => {
  if (leg.userOperation === null) throw new Error(`Leg ${leg.id} has no signed operation.`);
  return leg.userOperation;
};

/**
 * The reason why the operation can never be executed; null while it may still be executed. It
 * cannot be executed once a final block is later than the end of its validity. The reason is then
 * `REPLACED` when another operation has used the nonce, and `EXPIRED` otherwise.
 */
const whyNever = async (step: Step): Promise<Failure | null> => {
  const { leg, chains, smartAccounts } = step;
  if (leg.validUntil === null) return null;
  const head = await chains.head(leg.sourceChainId);
  const end = leg.validUntil.getTime() / 1000 + VALIDITY_MARGIN_SECONDS;
  if (Number(head.timestamp) <= end) return null;
  const final = await chains.finalBlock(leg.sourceChainId);
  if (final === null || Number(final.timestamp) <= end) return null;
  const { sender } = userOperationOf(step);
  const wasExecutedBy = (blockNumber: bigint): Promise<boolean> =>
    smartAccounts.wasExecuted(leg.sourceChainId, sender, leg.id, { blockNumber });
  const isUsed = await wasExecutedBy(head.number);
  if (isUsed && !(await wasExecutedBy(final.number))) return null;
  // A lagging node could show an executed operation as never executed, so the providers must agree
  // that it has no receipt.
  if ((await readAgreedReceipt(step, () => true)) !== null) return null;
  return isUsed ? REPLACED : EXPIRED;
};

const seen = async (step: Step, receipt: MinedSource): Promise<StepResult> => {
  const { leg, routeLeg, request } = step;
  const mined: LegChange = {
    sourceTxHash: receipt.txHash,
    sourceBlock: receipt.blockNumber,
    sourceConfirmations: 1,
    ...feeChange(receipt.fee),
  };
  const data = { txHash: receipt.txHash, chainId: leg.sourceChainId };
  if (!receipt.success) {
    const failure = {
      code: "source_reverted",
      message: REVERTED[routeLeg.kind],
      retryable: true,
    };
    return move(
      step,
      "source_seen",
      "leg.source_seen",
      { ...mined, failure, spentBase: 0n },
      { ...data, reverted: true },
    );
  }
  const outcome = step.routing.readSource(request, routeLeg, {
    ...receipt,
    chainId: leg.sourceChainId,
  });
  if (movedNothing(routeLeg, outcome)) {
    const change = { ...mined, failure: NOTHING_MOVED, spentBase: 0n };
    return move(step, "source_seen", "leg.source_seen", change, { ...data, reverted: false });
  }
  const change: LegChange = {
    ...mined,
    spentBase: outcome.spentBase,
    receivedBase: outcome.receivedBase,
    deposit: outcome.deposit ?? null,
    depositedBase: outcome.depositedBase,
  };
  return move(
    step,
    routeLeg.kind === "bridge" ? "bridging" : "source_seen",
    "leg.source_seen",
    change,
    data,
  );
};

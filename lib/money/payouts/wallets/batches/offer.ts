import { isDomainError } from "@/lib/core/errors";
import { WaitsForTurnError, type UserOperationReceipt } from "@/lib/chain/ports/bundler";
import { expired, PAID_BY_LOST_MOVE, reverted } from "./failures";
import { waitsForGas } from "./gas-wait";
import { hasLostPayment } from "./lost-payments";
import { ATTEMPTS_MAX, attemptName, type Failure } from "./payout-batch";
import { replaced } from "./replaced";
import { maySubmit } from "./screen-again";
import { depthOf, placeOf, readReceipt, type Step, type StepResult } from "./step";

const OFFER_AGAIN_MS = 4000;

/**
 * Runs a step of a signed or sent batch: submits its operation until it is mined or can never be
 * executed.
 */
export const offered = async (step: Step): Promise<StepResult> => {
  const receipt = await readReceipt(step);
  if (receipt !== null) return receipt.success ? mined(step, receipt) : undone(step, receipt);
  const end = await whyNever(step);
  if (end === "replaced") return replaced(step);
  if (end === "expired") return again(step, expired(step.batch.attempt));
  return offer(step, end);
};

const mined = async (step: Step, receipt: UserOperationReceipt): Promise<StepResult> => {
  await step.repository.mine({ batch: step.batch, receipt, now: step.clock.now() });
  return "moved";
};

/**
 * Handles an operation that reverted on chain. The next attempt begins when the block of the revert
 * is final.
 */
const undone = async (step: Step, receipt: UserOperationReceipt): Promise<StepResult> => {
  const { batch, repository, clock } = step;
  const { have, need } = await depthOf(step, receipt.blockNumber);
  const isStored = batch.txHash === receipt.txHash && batch.blockNumber === receipt.blockNumber;
  if (!isStored || have !== batch.confirmations) {
    await repository.noteRevert({ batch, receipt, confirmations: have, now: clock.now() });
    return "moved";
  }
  return have < need ? "waits" : again(step, reverted(batch.attempt));
};

/**
 * Decides whether the signed operation can still be executed. It cannot be executed once a final
 * block is later than the end of its validity. Then it is `replaced` when its nonce was used up to
 * that block, and `expired` otherwise. The providers must agree that the operation has no receipt,
 * because a lagging node could hide its execution. `overdue`: the validity has ended, but it is not
 * proven yet that the operation was not executed.
 */
const whyNever = async (step: Step): Promise<"expired" | "replaced" | "overdue" | "open"> => {
  const { batch, smartAccounts, chains, payout, account } = step;
  if (batch.validUntil === null) return "open";
  const end = batch.validUntil.getTime() / 1000;
  if (Number((await chains.head(payout.chainId)).timestamp) <= end) return "open";
  const final = await chains.finalBlock(payout.chainId);
  if (final === null || Number(final.timestamp) <= end) return "overdue";
  const name = attemptName(batch, batch.attempt);
  const isUsed = await smartAccounts.wasExecuted(payout.chainId, account.address, name, {
    blockNumber: final.number,
  });
  if ((await readReceipt(step, () => true)) !== null) return "overdue";
  return isUsed ? "replaced" : "expired";
};

const offer = async (step: Step, validity: "overdue" | "open"): Promise<StepResult> => {
  const { batch, repository, smartAccounts, payout, clock, offeredAt } = step;
  if (validity === "overdue") return sent(step, true);
  const now = clock.now().getTime();
  const hash = batch.userOpHash ?? "";
  if (now - (offeredAt.get(hash) ?? 0) < OFFER_AGAIN_MS) return "waits";
  if (await waitsForGas(step)) return "waits";
  noteOffer(offeredAt, hash, now);
  // A batch that may not be submitted expires, and its next attempt leaves out the recipients that
  // screening stopped.
  if (!(await maySubmit(step))) return "waits";
  const operation = await repository.operationOf(batch);
  if (operation === null) return "moved";
  try {
    const options = { isHeldElsewhere: false, validUntil: batch.validUntil };
    await smartAccounts.submit(payout.chainId, operation, options);
    return await sent(step, false);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    if (error instanceof WaitsForTurnError) {
      offeredAt.delete(hash);
      return "waits";
    }
    // EntryPoint would refuse the operation now, so this submission has no effect. The batch does
    // not fail, because an earlier submission may still be mined.
    if (error.code === "simulation_failed") return "waits";
    return sent(step, true);
  }
};

const sent = async (
  { batch, repository, clock }: Step,
  inDoubt: boolean,
): Promise<StepResult> => {
  if (batch.state === "sent" && batch.inDoubt === inDoubt) return "waits";
  await repository.sent({ batch, inDoubt, now: clock.now() });
  return "moved";
};

/**
 * Stores the time of a submission and removes old entries. The map is in the order of submissions,
 * so the old entries come first.
 */
const noteOffer = (offeredAt: Map<string, number>, hash: string, now: number): void => {
  offeredAt.delete(hash);
  for (const [other, at] of offeredAt) {
    if (now - at < OFFER_AGAIN_MS) break;
    offeredAt.delete(other);
  }
  offeredAt.set(hash, now);
};

/**
 * Queues the next attempt, or fails the batch after the last attempt. A retry that the database
 * lost in a restore may have paid the rows; then the batch is in doubt and their money is not
 * returned.
 */
const again = async (step: Step, failure: Failure): Promise<StepResult> => {
  const { batch, repository, lostMoves, clock } = step;
  if (batch.attempt < ATTEMPTS_MAX) {
    await repository.retry({ batch, now: clock.now() });
    return "moved";
  }
  const isLost = await hasLostPayment(lostMoves, placeOf(step), await repository.rowsOf(batch));
  return isLost ? replaced(step, PAID_BY_LOST_MOVE) : fail(step, failure);
};

const fail = async (
  { payout, batch, repository, clock }: Step,
  failure: Failure,
): Promise<StepResult> => {
  await repository.fail({ payout, batch, failure, now: clock.now() });
  return "moved";
};

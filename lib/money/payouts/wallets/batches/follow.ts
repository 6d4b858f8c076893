import { isStateMissing } from "@/lib/chain/node-errors";
import { isDomainError } from "@/lib/core/errors";
import type { ReceiptCheck, UserOperationReceipt } from "@/lib/chain/ports/bundler";
import { MOVED_NOTHING, movedOtherwise } from "./failures";
import { lostPaymentsAmong } from "./lost-payments";
import { rowsThatDiffer, type RowProof } from "./row-proofs";
import type { PayableRow, RowOutcome } from "./payout-batch";
import { depthOf, placeOf, readReceipt, type Step, type StepResult } from "./step";

const isSuccess: ReceiptCheck = ({ success }) => success;

/**
 * Reads the receipt of a batch that succeeded. Null only when the chain's providers agree that the
 * batch is no longer mined, or that it reverted.
 */
const successfulReceipt = async (step: Step): Promise<UserOperationReceipt | null> => {
  const receipt = await readReceipt(step);
  if (receipt?.success === true) return receipt;
  const agreed = await readReceipt(step, isSuccess);
  return agreed?.success === true ? agreed : null;
};

/**
 * Runs a step of a mined batch: waits until its block is final, and then ends the batch. When a
 * reorganisation has removed the transaction, the batch becomes `sent` again.
 */
export const mined = async (step: Step): Promise<StepResult> => {
  const { payout, batch, repository, clock } = step;
  const receipt = await successfulReceipt(step);
  if (receipt === null) {
    if (batch.userOpHash !== null) step.offeredAt.delete(batch.userOpHash);
    await repository.unmine({ batch, now: clock.now() });
    return "moved";
  }
  const isSame = batch.txHash === receipt.txHash && batch.blockNumber === receipt.blockNumber;
  const { have: counted, need } = await depthOf(step, receipt.blockNumber);
  // The stored number of confirmations never decreases, because this node may only have an older
  // head than the node that answered before.
  const have = isSame ? Math.max(counted, batch.confirmations) : counted;
  if (have >= need) {
    const outcomes = await outcomesOf(step, receipt);
    const lost = await lostAmong(step, outcomes);
    const now = clock.now();
    await (lost.length > 0
      ? repository.doubt({ batch, rows: lost, now })
      : repository.pay({ payout, batch, receipt, outcomes, confirmations: have, now }));
    return "moved";
  }
  if (!isSame || have !== batch.confirmations)
    await repository.follow({ batch, receipt, confirmations: have, now: clock.now() });
  return "waits";
};

/**
 * Returns the rows whose outcome differs from the outcome of their batch, or that need a note. A
 * row fails although the batch succeeded when the chain proves that no money moved for it: the
 * token's logs do not name the row, and its recipient's balance changed by exactly the sum of the
 * logs. When the balance at that block can no longer be read, the row counts as paid, because its
 * money may have left.
 */
const outcomesOf = async (
  step: Step,
  receipt: UserOperationReceipt,
): Promise<readonly RowOutcome[]> => {
  const { batch, account, token, repository } = step;
  if (token.address === "native") return [];
  const place = { token: token.address, account: account.address };
  const proofs = rowsThatDiffer(place, await repository.rowsOf(batch), receipt.logs);
  if (proofs.length === 0) return [];
  const changes = await changesOf(step, proofs, receipt.blockNumber);
  return proofs.map(({ row, movedBase, loggedBase }, position) => {
    const isProven = movedBase === 0n && changes[position] === loggedBase;
    const { index, amountBase } = row;
    return isProven
      ? { index, amountBase, status: "failed", failure: MOVED_NOTHING }
      : { index, amountBase, status: null, failure: movedOtherwise(token, movedBase) };
  });
};

/** Returns the failed rows that an operation which the database lost in a restore has paid. */
const lostAmong = async (
  step: Step,
  outcomes: readonly RowOutcome[],
): Promise<readonly PayableRow[]> => {
  const failed = new Set(
    outcomes.filter(({ status }) => status === "failed").map(({ index }) => index),
  );
  if (failed.size === 0) return [];
  const rows = await step.repository.rowsOf(step.batch);
  return lostPaymentsAmong(
    step.lostMoves,
    placeOf(step),
    rows.filter(({ index }) => failed.has(index)),
  );
};

const changesOf = async (
  { smartAccounts, payout, token }: Step,
  proofs: readonly RowProof[],
  block: bigint,
): Promise<readonly (bigint | null)[]> => {
  if (token.address === "native") return [];
  const owners = proofs.map(({ row }) => row.recipient);
  try {
    return await smartAccounts.balanceChangesIn(payout.chainId, token.address, owners, block);
  } catch (error) {
    // The nodes may no longer have the state of that block, so the changes of the balances are
    // unknown.
    if (isDomainError(error) && !isStateMissing(error)) throw error;
    return proofs.map(() => null);
  }
};

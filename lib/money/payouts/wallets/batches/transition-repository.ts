/** Changes the state of a batch that the driver processes, by compare-and-set. */
import type { Database, Tx } from "@/lib/platform/db/client";
import { toDecimal } from "@/lib/platform/db/decimal";
import type { Prisma } from "@/lib/platform/db/generated/client";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import type { UserOperationReceipt } from "@/lib/chain/ports/bundler";
import { BATCH_TRANSITIONS, type BatchState, type PayoutBatch } from "./payout-batch";

export interface BatchRepositoryDeps {
  readonly database: Database;
  readonly sponsorship: Pick<SponsorshipService, "adjust" | "settle">;
}

export type Change = Omit<
  Prisma.WalletPayoutBatchUncheckedUpdateManyInput,
  "state" | "version" | "updatedAt"
>;

export interface Mined {
  readonly batch: PayoutBatch;
  readonly receipt: UserOperationReceipt;
  readonly now: Date;
}

export const keyOf = ({ projectId, payoutId, number }: PayoutBatch) => ({
  projectId,
  payoutId,
  number,
});

/**
 * Returns the columns that come from a receipt. A reorganisation can move the operation to another
 * block, where it has another cost, so every later receipt overwrites them.
 */
export const seenIn = ({ batch, receipt }: Mined, confirmations: number): Change => ({
  txHash: receipt.txHash,
  blockNumber: toDecimal(receipt.blockNumber),
  confirmations,
  gasCostWei: toDecimal(batch.formerGasWei + receipt.actualGasCost),
});

/** Changes a batch, and returns false when another worker has changed it since it was read. */
export const change = async (
  tx: Pick<Tx, "walletPayoutBatch">,
  batch: PayoutBatch,
  to: BatchState,
  data: Change,
  now: Date,
): Promise<boolean> => {
  if (
    to !== batch.state &&
    !(BATCH_TRANSITIONS[batch.state] as readonly BatchState[]).includes(to)
  )
    throw new Error(`A batch may not go from ${batch.state} to ${to}.`);
  const { count } = await tx.walletPayoutBatch.updateMany({
    where: { ...keyOf(batch), state: batch.state, version: batch.version },
    data: { ...data, state: to, version: { increment: 1 }, updatedAt: now },
  });
  return count === 1;
};

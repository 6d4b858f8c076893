/** Changes rows, counters and holds of a payout, in the transaction that changes their batch. */
import { z } from "zod";
import { failureRecord } from "@/lib/contracts/common";
import type { Tx } from "@/lib/platform/db/client";
import { toDecimal } from "@/lib/platform/db/decimal";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { int, json, nullable, oneOf, table } from "@/lib/platform/db/table";
import { toStored } from "@/lib/platform/db/codecs";
import { recordFailedItems } from "../../project-event-repository";
import {
  batchName,
  type PayoutBatch,
  type Failure,
  type PayableRow,
  type RowOutcome,
} from "./payout-batch";

const itemOutcomes = table({
  index: int,
  /** The row's own status; null when the row has the outcome of its batch. */
  status: nullable(oneOf(z.enum(["failed"]))),
  failure: json(failureRecord),
});

/**
 * Stores the outcomes of rows that differ from the outcome of their batch, or that have a failure
 * to report. The caller must have locked the payout's row.
 */
export const storeOutcomes = async (
  tx: Tx,
  batch: Pick<PayoutBatch, "projectId" | "payoutId">,
  outcomes: readonly RowOutcome[],
): Promise<void> => {
  if (outcomes.length === 0) return;
  await sqlOf(tx).change(sql`
    UPDATE wallet_payout_item i SET status = o.status, failure = o.failure
    FROM ${itemOutcomes.list(outcomes)} AS o
    WHERE i.project_id = ${batch.projectId}
      AND i.payout_id = ${batch.payoutId}
      AND i.index = o.index`);
};

/** Like `storeOutcomes`, but also writes an event for each row that fails. */
export const writeOutcomes = async (
  tx: Tx,
  batch: PayoutBatch,
  outcomes: readonly RowOutcome[],
  now: Date,
): Promise<void> => {
  await storeOutcomes(tx, batch, outcomes);
  const failed = outcomes.filter(({ status }) => status === "failed");
  await recordFailedItems(sqlOf(tx), {
    projectId: batch.projectId,
    payoutId: batch.payoutId,
    items: failed,
    at: now,
  });
};

/**
 * Writes an event for each row that fails with its batch. The caller must have locked the payout's
 * row.
 */
export const recordFailedBatch = async (
  tx: Tx,
  batch: PayoutBatch,
  failure: Failure,
  now: Date,
): Promise<void> => {
  const { projectId, payoutId, number } = batch;
  const rows = await tx.walletPayoutItem.findMany({
    where: { projectId, payoutId, batch: number, status: null },
    select: { index: true },
    orderBy: { index: "asc" },
  });
  const items = rows.map(({ index }) => ({ index, failure }));
  await recordFailedItems(sqlOf(tx), { projectId, payoutId, items, at: now });
};

/**
 * Reduces the hold of a batch to `toBase`. The difference becomes available immediately, because
 * none of it was spent.
 */
export const shrinkHold = async (tx: Tx, batch: PayoutBatch, toBase: bigint): Promise<void> => {
  await tx.balanceHold.updateMany({
    where: { id: batchName(batch) },
    data: { amountBase: toDecimal(toBase) },
  });
};

/** Adds to the payout's counters of rows. The caller must have locked the payout's row. */
export const countRows = async (
  tx: Tx,
  { projectId, payoutId }: { readonly projectId: string; readonly payoutId: string },
  { completed, failed, now }: { completed: number; failed: number; now: Date },
): Promise<void> => {
  await tx.payout.updateMany({
    where: { projectId, id: payoutId },
    data: {
      itemsCompleted: { increment: completed },
      itemsFailed: { increment: failed },
      updatedAt: now,
    },
  });
};

/**
 * Returns the number for a new batch of the payout. The caller must have locked the payout's row,
 * so that the number is unique.
 */
const nextNumber = async (
  tx: Tx,
  { projectId, payoutId, number }: PayoutBatch,
): Promise<number> => {
  const { _max } = await tx.walletPayoutBatch.aggregate({
    where: { projectId, payoutId },
    _max: { number: true },
  });
  return (_max.number ?? number) + 1;
};

/**
 * Moves rows of a mined batch to a new batch in doubt, and writes an event for each row. No hold is
 * moved, because a mined batch has released its hold.
 */
export const moveRowsToDoubt = async (
  tx: Tx,
  input: {
    batch: PayoutBatch;
    rows: readonly PayableRow[];
    movedBase: bigint;
    failure: Failure;
    now: Date;
  },
): Promise<void> => {
  const { batch, rows, movedBase, failure, now } = input;
  const { projectId, payoutId, token } = batch;
  const number = await nextNumber(tx, batch);
  const from = await tx.walletPayoutBatch.findFirstOrThrow({
    where: { projectId, payoutId, number: batch.number },
    select: { walletAddress: true, chainId: true },
  });
  await tx.walletPayoutBatch.create({
    data: {
      ...{ ...from, projectId, payoutId, number, token, state: "failed", updatedAt: now },
      ...{ rows: rows.length, amountBase: toDecimal(movedBase), failure: toStored(failure) },
    },
  });
  await tx.walletPayoutItem.updateMany({
    where: { projectId, payoutId, index: { in: rows.map(({ index }) => index) } },
    data: { batch: number },
  });
  await recordFailedBatch(tx, { ...batch, number }, failure, now);
};

/**
 * Moves rows of a batch to a new queued batch. The new batch gets the part `movedBase` of the
 * batch's hold, and the sponsor reservation `reservedWei`.
 */
export const moveRows = async (
  tx: Tx,
  input: {
    batch: PayoutBatch;
    rows: readonly PayableRow[];
    movedBase: bigint;
    reservedWei: bigint | null;
    now: Date;
  },
): Promise<void> => {
  const { batch, rows, movedBase, reservedWei, now } = input;
  const { projectId, payoutId, token, sponsorDay } = batch;
  const number = await nextNumber(tx, batch);
  const hold = await tx.balanceHold.update({
    where: { id: batchName(batch) },
    data: { amountBase: { decrement: toDecimal(movedBase) } },
  });
  const { walletAddress, chainId } = hold;
  await tx.walletPayoutBatch.create({
    data: {
      ...{ projectId, payoutId, number, walletAddress, chainId, token, sponsorDay },
      rows: rows.length,
      amountBase: toDecimal(movedBase),
      state: "queued",
      sponsorReservedWei: reservedWei === null ? null : toDecimal(reservedWei),
      updatedAt: now,
    },
  });
  await tx.walletPayoutItem.updateMany({
    where: { projectId, payoutId, index: { in: rows.map(({ index }) => index) } },
    data: { batch: number },
  });
  await tx.balanceHold.create({
    data: {
      ...hold,
      id: batchName({ payoutId, number }),
      amountBase: toDecimal(movedBase),
      createdAt: now,
    },
  });
};

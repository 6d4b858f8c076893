/**
 * Stores how batches and their payout end. A batch is paid, fails, loses rows that cannot be paid,
 * or is divided into two batches.
 */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Tx } from "@/lib/platform/db/client";
import { toDecimal } from "@/lib/platform/db/decimal";
import { Prisma } from "@/lib/platform/db/generated/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { syncHold } from "@/lib/books/holds/service";
import { toStored } from "@/lib/platform/db/codecs";
import { endOf, type PayoutKey } from "../../payout";
import { recordPayoutEvents } from "../../project-event-repository";
import { lockPayout } from "../../repository";
import { settleAccount } from "../account-side-repository";
import { ALL_ROWS_REFUSED, PAID_BY_LOST_MOVE, REPLACED } from "./failures";
import {
  batchName,
  batchVersion,
  OPEN_STATES,
  type DrivenPayout,
  type Failure,
  type PayableRow,
  type PayoutBatch,
  type RowOutcome,
} from "./payout-batch";
import { settleReservation } from "./reservations";
import {
  countRows,
  moveRows,
  moveRowsToDoubt,
  recordFailedBatch,
  shrinkHold,
  writeOutcomes,
} from "./rows-repository";
import {
  change,
  seenIn,
  type BatchRepositoryDeps,
  type Change,
  type Mined,
} from "./transition-repository";

const payoutOf = ({ projectId, payoutId }: PayoutBatch): PayoutKey => ({
  projectId,
  id: payoutId,
});

/**
 * Posts to the ledger which money of the batch has left the treasury, and which returns to the
 * account that funds the payout. Call it after `change`, and before the sponsor's budget is
 * changed, because that budget is locked last.
 */
const settle = (
  tx: Tx,
  { payout, batch, now }: { payout: DrivenPayout; batch: PayoutBatch; now: Date },
  amounts: { paidBase?: bigint; returnedBase?: bigint },
): Promise<void> =>
  settleAccount(sqlOf(tx), {
    ...{
      projectId: batch.projectId,
      payoutId: batch.payoutId,
      bearer: payout.bearer,
      token: batch.token,
    },
    ...{ part: batchVersion(batch), now, ...amounts },
  });

/**
 * Changes a batch from mined to paid. `outcomes` has the rows for which the chain shows another
 * result than was requested.
 */
const pay = (
  { database, sponsorship }: BatchRepositoryDeps,
  input: Mined & {
    payout: DrivenPayout;
    outcomes: readonly RowOutcome[];
    confirmations: number;
  },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { payout, batch, outcomes, now } = input;
    await lockPayout(sqlOf(tx), payoutOf(batch));
    const failed = outcomes.filter(({ status }) => status === "failed");
    const unpaidBase = failed.reduce((sum, { amountBase }) => sum + amountBase, 0n);
    const seen = seenIn(input, input.confirmations);
    const data: Change = {
      ...seen,
      rows: batch.rows - failed.length,
      amountBase: toDecimal(batch.amountBase - unpaidBase),
    };
    if (!(await change(tx, batch, "paid", data, now))) return false;
    await writeOutcomes(tx, batch, outcomes, now);
    const completed = batch.rows - failed.length;
    await countRows(tx, batch, { completed, failed: failed.length, now });
    await settle(tx, input, {
      paidBase: batch.amountBase - unpaidBase,
      returnedBase: unpaidBase,
    });
    const spentWei = batch.formerGasWei + input.receipt.actualGasCost;
    await settleReservation(tx, sponsorship, { payout, batch, spentWei });
    return true;
  });

/**
 * Moves rows from a mined batch to a new batch in doubt, because an operation that the database
 * lost in a restore may have paid them. Their money stays in transit until the doubt is decided.
 */
const doubt = (
  { database }: BatchRepositoryDeps,
  { batch, rows, now }: { batch: PayoutBatch; rows: readonly PayableRow[]; now: Date },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    await lockPayout(sqlOf(tx), payoutOf(batch));
    const movedBase = rows.reduce((sum, { amountBase }) => sum + amountBase, 0n);
    const left: Change = {
      rows: batch.rows - rows.length,
      amountBase: toDecimal(batch.amountBase - movedBase),
    };
    if (!(await change(tx, batch, "mined", left, now))) return false;
    await moveRowsToDoubt(tx, { batch, rows, movedBase, failure: PAID_BY_LOST_MOVE, now });
    await countRows(tx, batch, { completed: 0, failed: rows.length, now });
    return true;
  });

interface FailedBatch {
  readonly payout: DrivenPayout;
  readonly batch: PayoutBatch;
  readonly failure: Failure;
  /**
   * The sponsor's fees in wei for operations that were executed in place of the batch's operation.
   * Default 0.
   */
  readonly replacedWei?: bigint;
  readonly now: Date;
}

/**
 * Changes a batch from queued, signed or sent to failed, and releases its hold. The money returns
 * to the account that funds the payout, unless another operation may have paid the rows.
 */
const fail = (
  { database, sponsorship }: BatchRepositoryDeps,
  { payout, batch, failure, replacedWei = 0n, now }: FailedBatch,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    await lockPayout(sqlOf(tx), payoutOf(batch));
    const spentWei = batch.gasCostWei + replacedWei;
    const data: Change = {
      failure: toStored(failure),
      inDoubt: false,
      gasCostWei: toDecimal(spentWei),
    };
    if (!(await change(tx, batch, "failed", data, now))) return false;
    await syncHold(tx, batchName(batch), false, now);
    await countRows(tx, batch, { completed: 0, failed: batch.rows, now });
    await recordFailedBatch(tx, batch, failure, now);
    // Money that another operation may have paid stays in transit. If it returned to the account,
    // the account could spend money that has already left the treasury.
    if (failure.code !== REPLACED.code)
      await settle(tx, { payout, batch, now }, { returnedBase: batch.amountBase });
    await settleReservation(tx, sponsorship, { payout, batch, spentWei });
    return true;
  });

/**
 * Removes rows that cannot be paid from a queued batch, and releases their money. A batch without
 * any row left fails.
 */
const setAside = (
  { database, sponsorship }: BatchRepositoryDeps,
  input: {
    payout: DrivenPayout;
    batch: PayoutBatch;
    outcomes: readonly RowOutcome[];
    now: Date;
  },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { payout, batch, outcomes, now } = input;
    await lockPayout(sqlOf(tx), payoutOf(batch));
    const leftBase = outcomes.reduce(
      (left, { amountBase }) => left - amountBase,
      batch.amountBase,
    );
    const rows = batch.rows - outcomes.length;
    const data: Change = {
      rows,
      amountBase: toDecimal(leftBase),
      blockedSince: null,
      failure: Prisma.DbNull,
    };
    const end: Change = rows > 0 ? data : { ...data, failure: toStored(ALL_ROWS_REFUSED) };
    if (!(await change(tx, batch, rows > 0 ? "queued" : "failed", end, now))) return false;
    await writeOutcomes(tx, batch, outcomes, now);
    if (rows > 0) await shrinkHold(tx, batch, leftBase);
    else await syncHold(tx, batchName(batch), false, now);
    await countRows(tx, batch, { completed: 0, failed: outcomes.length, now });
    await settle(tx, input, { returnedBase: batch.amountBase - leftBase });
    if (rows === 0)
      await settleReservation(tx, sponsorship, { payout, batch, spentWei: batch.gasCostWei });
    return true;
  });

/**
 * Divides a queued batch into two. The first half of the rows stays in the batch; a new batch gets
 * the second half, its money, and half of the sponsor reservation.
 */
const halve = (
  { database }: BatchRepositoryDeps,
  input: { batch: PayoutBatch; rows: readonly PayableRow[]; now: Date },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { batch, rows, now } = input;
    await lockPayout(sqlOf(tx), payoutOf(batch));
    const kept = Math.ceil(rows.length / 2);
    const movedBase = rows.slice(kept).reduce((sum, { amountBase }) => sum + amountBase, 0n);
    const reservedWei =
      batch.sponsorReservedWei === null ? null : batch.sponsorReservedWei / 2n;
    const left: Change = {
      rows: kept,
      amountBase: toDecimal(batch.amountBase - movedBase),
      ...(reservedWei === null || batch.sponsorReservedWei === null
        ? {}
        : { sponsorReservedWei: toDecimal(batch.sponsorReservedWei - reservedWei) }),
    };
    if (!(await change(tx, batch, "queued", left, now))) return false;
    await moveRows(tx, { batch, rows: rows.slice(kept), movedBase, reservedWei, now });
    return true;
  });

/**
 * Changes a payout from processing to the final state that follows from its batches. Returns false
 * while one of its batches is open.
 */
const finish = (
  { database }: BatchRepositoryDeps,
  { projectId, payoutId }: DrivenPayout,
  now: Date,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    await lockPayout(sqlOf(tx), { projectId, id: payoutId });
    const where = { projectId, payoutId, state: { in: [...OPEN_STATES] } };
    if ((await tx.walletPayoutBatch.count({ where })) > 0) return false;
    const payout = await tx.payout.findFirstOrThrow({ where: { projectId, id: payoutId } });
    const end = endOf(payout);
    const failure =
      end.status === "failed" ? await firstFailure(tx, { projectId, payoutId }) : null;
    const { count } = await tx.payout.updateMany({
      where: { projectId, id: payoutId, status: "processing" },
      data: { ...end, updatedAt: now, ...(failure === null ? {} : { failure }) },
    });
    if (count === 1)
      await recordPayoutEvents(sqlOf(tx), {
        projectId,
        payoutIds: [payoutId],
        type: `payout.${end.status}`,
        at: now,
      });
    return true;
  });

/**
 * Returns the failure of the first batch that has one, in the order of the batch numbers; null when
 * there is none.
 */
export const firstFailure = async (
  tx: Tx,
  at: { projectId: string; payoutId: string },
): Promise<Prisma.InputJsonValue | null> => {
  const where = { ...at, failure: { not: Prisma.DbNull } };
  const batch = await tx.walletPayoutBatch.findFirst({
    where,
    orderBy: { number: "asc" },
    select: { failure: true },
  });
  return batch?.failure ?? null;
};

export const createEndRepository = (deps: BatchRepositoryDeps) => ({
  pay: bindDeps(deps, pay),
  doubt: bindDeps(deps, doubt),
  fail: bindDeps(deps, fail),
  setAside: bindDeps(deps, setAside),
  halve: bindDeps(deps, halve),
  finish: bindDeps(deps, finish),
});

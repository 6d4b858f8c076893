/** Stores how batches and their payout end: paid, failed, without the rows at fault, or divided into two. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Tx } from "@/lib/db/client";
import { toDecimal } from "@/lib/db/decimal";
import { Prisma } from "@/lib/db/generated/client";
import { sqlOf } from "@/lib/db/sql";
import { syncHold } from "@/lib/modules/holds/service";
import { toStored } from "@/lib/ports/routing-json";
import { recordPayoutEvents } from "../../project-event-repository";
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
  endOf,
  moveRows,
  moveRowsToDoubt,
  recordFailedBatch,
  shrinkHold,
  writeOutcomes,
} from "./rows-repository";
import { change, seenIn, type BatchRepositoryDeps, type Change, type Mined } from "./transition-repository";

/** Locks the payout's row, so that changes of its counters and its end follow one another. Take it before any other lock. */
const lockPayout = async (
  tx: Tx,
  { projectId, payoutId }: { readonly projectId: string; readonly payoutId: string },
): Promise<void> => {
  await tx.$queryRaw`SELECT id FROM payout WHERE project_id = ${projectId} AND id = ${payoutId} FOR NO KEY UPDATE`;
};

/** Settles a part of the batch with the account that bears the payout. Call it after `change`, before the sponsor's budget is changed. */
const settle = (
  tx: Tx,
  { payout, batch, now }: { payout: DrivenPayout; batch: PayoutBatch; now: Date },
  amounts: { paidBase?: bigint; returnedBase?: bigint },
): Promise<void> =>
  settleAccount(sqlOf(tx), {
    ...{ projectId: batch.projectId, payoutId: batch.payoutId, bearer: payout.bearer, token: batch.token },
    ...{ part: batchVersion(batch), now, ...amounts },
  });

/** mined → paid. `outcomes` are the rows of which the chain shows something else than was asked for. */
const pay = (
  { database, sponsorship }: BatchRepositoryDeps,
  input: Mined & { payout: DrivenPayout; outcomes: readonly RowOutcome[]; confirmations: number },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { payout, batch, outcomes, now } = input;
    await lockPayout(tx, batch);
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
    await settle(tx, input, { paidBase: batch.amountBase - unpaidBase, returnedBase: unpaidBase });
    const spentWei = batch.formerGasWei + input.receipt.actualGasCost;
    await settleReservation(tx, sponsorship, { payout, batch, spentWei });
    return true;
  });

/**
 * mined stays, without the rows that an operation which the database lost may have paid: a new batch in doubt gets these rows. Their money
 * stays in transit until somebody has decided.
 */
const doubt = (
  { database }: BatchRepositoryDeps,
  { batch, rows, now }: { batch: PayoutBatch; rows: readonly PayableRow[]; now: Date },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    await lockPayout(tx, batch);
    const movedBase = rows.reduce((sum, { amountBase }) => sum + amountBase, 0n);
    const left: Change = { rows: batch.rows - rows.length, amountBase: toDecimal(batch.amountBase - movedBase) };
    if (!(await change(tx, batch, "mined", left, now))) return false;
    await moveRowsToDoubt(tx, { batch, rows, movedBase, failure: PAID_BY_LOST_MOVE, now });
    await countRows(tx, batch, { completed: 0, failed: rows.length, now });
    return true;
  });

interface FailedBatch {
  readonly payout: DrivenPayout;
  readonly batch: PayoutBatch;
  readonly failure: Failure;
  /** The sponsor's fees, in wei, for operations that took the place of the batch's own. Default 0. */
  readonly replacedWei?: bigint;
  readonly now: Date;
}

/** queued, signed or sent → failed: nothing of the batch was paid, and its money is free again. */
const fail = (
  { database, sponsorship }: BatchRepositoryDeps,
  { payout, batch, failure, replacedWei = 0n, now }: FailedBatch,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    await lockPayout(tx, batch);
    const spentWei = batch.gasCostWei + replacedWei;
    const data: Change = { failure: toStored(failure), inDoubt: false, gasCostWei: toDecimal(spentWei) };
    if (!(await change(tx, batch, "failed", data, now))) return false;
    await syncHold(tx, batchName(batch), false, now);
    await countRows(tx, batch, { completed: 0, failed: batch.rows, now });
    await recordFailedBatch(tx, batch, failure, now);
    // Money that another operation may have paid stays in transit, because the account must not get it as well.
    if (failure.code !== REPLACED.code) await settle(tx, { payout, batch, now }, { returnedBase: batch.amountBase });
    await settleReservation(tx, sponsorship, { payout, batch, spentWei });
    return true;
  });

/** queued stays, without the rows at fault: their money is free at once. Without any row left the batch has failed. */
const setAside = (
  { database, sponsorship }: BatchRepositoryDeps,
  input: { payout: DrivenPayout; batch: PayoutBatch; outcomes: readonly RowOutcome[]; now: Date },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { payout, batch, outcomes, now } = input;
    await lockPayout(tx, batch);
    const leftBase = outcomes.reduce((left, { amountBase }) => left - amountBase, batch.amountBase);
    const rows = batch.rows - outcomes.length;
    const data: Change = { rows, amountBase: toDecimal(leftBase), blockedSince: null, failure: Prisma.DbNull };
    const end: Change = rows > 0 ? data : { ...data, failure: toStored(ALL_ROWS_REFUSED) };
    if (!(await change(tx, batch, rows > 0 ? "queued" : "failed", end, now))) return false;
    await writeOutcomes(tx, batch, outcomes, now);
    if (rows > 0) await shrinkHold(tx, batch, leftBase);
    else await syncHold(tx, batchName(batch), false, now);
    await countRows(tx, batch, { completed: 0, failed: outcomes.length, now });
    await settle(tx, input, { returnedBase: batch.amountBase - leftBase });
    if (rows === 0) await settleReservation(tx, sponsorship, { payout, batch, spentWei: batch.gasCostWei });
    return true;
  });

/** queued stays with the first half of its rows; a new batch gets the others, half of the budget and their money. */
const halve = (
  { database }: BatchRepositoryDeps,
  input: { batch: PayoutBatch; rows: readonly PayableRow[]; now: Date },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { batch, rows, now } = input;
    await lockPayout(tx, batch);
    const kept = Math.ceil(rows.length / 2);
    const movedBase = rows.slice(kept).reduce((sum, { amountBase }) => sum + amountBase, 0n);
    const reservedWei = batch.sponsorReservedWei === null ? null : batch.sponsorReservedWei / 2n;
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

/** processing → what its batches came to. False while one of them is open. */
const finish = (
  { database }: BatchRepositoryDeps,
  { projectId, payoutId }: DrivenPayout,
  now: Date,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    await lockPayout(tx, { projectId, payoutId });
    const where = { projectId, payoutId, state: { in: [...OPEN_STATES] } };
    if ((await tx.walletPayoutBatch.count({ where })) > 0) return false;
    const payout = await tx.payout.findFirstOrThrow({ where: { projectId, id: payoutId } });
    const end = endOf(payout);
    const failure = end.status === "failed" ? await firstFailure(tx, { projectId, payoutId }) : null;
    const { count } = await tx.payout.updateMany({
      where: { projectId, id: payoutId, status: "processing" },
      data: { ...end, updatedAt: now, ...(failure === null ? {} : { failure }) },
    });
    if (count === 1)
      await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [payoutId], type: `payout.${end.status}`, at: now });
    return true;
  });

/** The failure of the first batch that has one. */
export const firstFailure = async (
  tx: Tx,
  at: { projectId: string; payoutId: string },
): Promise<Prisma.InputJsonValue | null> => {
  const where = { ...at, failure: { not: Prisma.DbNull } };
  const batch = await tx.walletPayoutBatch.findFirst({ where, orderBy: { number: "asc" }, select: { failure: true } });
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

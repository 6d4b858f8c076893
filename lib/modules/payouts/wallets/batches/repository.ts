import type { Database, Tx } from "@/lib/db/client";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import { Prisma } from "@/lib/db/generated/client";
import { sqlOf } from "@/lib/db/sql";
import { syncHold } from "@/lib/modules/holds/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { UserOperation, UserOperationReceipt } from "@/lib/ports/bundler";
import { storedUserOperation, toStored } from "@/lib/ports/routing-json";
import { recordPayoutEvents } from "../../project-events";
import { ALL_ROWS_REFUSED } from "./failures";
import { adjustReservation, settleReservation } from "./reservations";
import { countRows, endOf, moveRows, recordFailedBatch, shrinkHold, writeOutcomes } from "./rows-repository";
import {
  batchName,
  BATCH_TRANSITIONS,
  OPEN_STATES,
  parseBatch,
  type PayoutBatch,
  type BatchState,
  type Failure,
  type PayableRow,
  type RowOutcome,
} from "./payout-batch";

/** The facts about the payout that the driver needs; they never change while the payout runs. */
export interface DrivenPayout {
  readonly projectId: string;
  readonly payoutId: string;
  readonly chainId: number;
  readonly fromWalletId: string;
}

interface Signed {
  readonly operation: UserOperation;
  readonly userOpHash: `0x${string}`;
  readonly validUntil: Date;
  readonly fromBlock: bigint;
}

type Change = Omit<Prisma.WalletPayoutBatchUncheckedUpdateManyInput, "state" | "version" | "updatedAt">;
type Mined = { batch: PayoutBatch; receipt: UserOperationReceipt; now: Date };

const keyOf = ({ projectId, payoutId, number }: PayoutBatch) => ({ projectId, payoutId, number });

/** The signed operation and what the chain showed of it. */
const NO_ATTEMPT: Change = {
  userOperation: Prisma.DbNull,
  userOpHash: null,
  validUntil: null,
  fromBlock: null,
  txHash: null,
  blockNumber: null,
  confirmations: 0,
  inDoubt: false,
};

/**
 * The columns that are taken from a receipt. A reorganisation can move the operation to another block, where it costs something else, so
 * every later receipt overwrites them.
 */
const seenIn = ({ batch, receipt }: Mined, confirmations: number): Change => ({
  txHash: receipt.txHash,
  blockNumber: toDecimal(receipt.blockNumber),
  confirmations,
  gasCostWei: toDecimal(batch.formerGasWei + receipt.actualGasCost),
});

/** Locks the payout's row, so that changes of its counters and its end follow one another. Take it before any other lock. */
const lockPayout = async (tx: Tx, payoutId: string): Promise<void> => {
  await tx.$queryRaw`SELECT id FROM payout WHERE id = ${payoutId} FOR NO KEY UPDATE`;
};

/** False when somebody else moved the batch since it was read. */
const change = async (
  tx: Pick<Tx, "walletPayoutBatch">,
  batch: PayoutBatch,
  to: BatchState,
  data: Change,
  now: Date,
): Promise<boolean> => {
  if (to !== batch.state && !(BATCH_TRANSITIONS[batch.state] as readonly BatchState[]).includes(to))
    throw new Error(`A batch may not go from ${batch.state} to ${to}.`);
  const { count } = await tx.walletPayoutBatch.updateMany({
    where: { ...keyOf(batch), state: batch.state, version: batch.version },
    data: { ...data, state: to, version: { increment: 1 }, updatedAt: now },
  });
  return count === 1;
};

/**
 * Batches on their way. Every change names the state and the version that it expects; state, holds, budgets and counters change together
 * or not at all. A change that came too late does nothing and answers false.
 */
export const createBatchRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "adjust" | "settle">,
) => {
  const { prisma } = database;

  /** Ends a batch of which nothing was paid: its money is free again. */
  const endUnpaid = async (
    tx: Tx,
    { payout, batch, failure, now }: { payout: DrivenPayout; batch: PayoutBatch; failure: Failure; now: Date },
  ): Promise<boolean> => {
    if (!(await change(tx, batch, "failed", { failure: toStored(failure), inDoubt: false }, now))) return false;
    await syncHold(tx, batchName(batch), false, now);
    await countRows(tx, { payoutId: batch.payoutId, completed: 0, failed: batch.rows, now });
    await recordFailedBatch(tx, batch, failure, now);
    await settleReservation(tx, sponsorship, { payout, batch, spentWei: batch.gasCostWei });
    return true;
  };

  return {
    /** Which chain and which wallet a payout is paid from. */
    find: async (projectId: string, payoutId: string): Promise<DrivenPayout> => {
      const { chainId, fromWalletId } = await prisma.walletPayout.findUniqueOrThrow({
        where: { projectId_payoutId: { projectId, payoutId } },
      });
      return { projectId, payoutId, chainId, fromWalletId };
    },

    /** The batches that are not final, by number. */
    open: async ({ projectId, payoutId }: DrivenPayout): Promise<readonly PayoutBatch[]> => {
      const rows = await prisma.walletPayoutBatch.findMany({
        where: { projectId, payoutId, state: { in: [...OPEN_STATES] } },
        omit: { userOperation: true },
        orderBy: { number: "asc" },
      });
      return rows.map(parseBatch);
    },

    /** The rows that a batch still has to pay, by index. */
    rowsOf: async ({ projectId, payoutId, number }: PayoutBatch): Promise<readonly PayableRow[]> => {
      const rows = await prisma.walletPayoutItem.findMany({
        where: { projectId, payoutId, batch: number, status: null },
        select: { index: true, recipient: true, amountBase: true },
        orderBy: { index: "asc" },
      });
      return rows.map(({ index, recipient, amountBase }) => ({
        index,
        recipient: recipient as `0x${string}`,
        amountBase: toBigInt(amountBase),
      }));
    },

    /** The signed operation; null when it is gone since the batch was read. */
    operationOf: async (batch: PayoutBatch): Promise<UserOperation | null> => {
      const row = await prisma.walletPayoutBatch.findFirst({
        where: { ...keyOf(batch), version: batch.version },
        select: { userOperation: true },
      });
      return row === null || row.userOperation === null ? null : storedUserOperation.parse(row.userOperation);
    },

    /** queued → signed. @throws DomainError `sponsor_budget_exceeded` when the budget does not carry `maxGasWei` */
    sign: (input: { payout: DrivenPayout; batch: PayoutBatch; signed: Signed; maxGasWei: bigint; now: Date }) =>
      database.transaction(async (tx) => {
        const { payout, batch, signed, maxGasWei, now } = input;
        const data: Change = {
          attempt: batch.attempt + 1,
          userOperation: toStored(signed.operation),
          userOpHash: signed.userOpHash,
          validUntil: signed.validUntil,
          fromBlock: toDecimal(signed.fromBlock),
          blockedSince: null,
          failure: Prisma.DbNull,
        };
        if (!(await change(tx, batch, "signed", data, now))) return false;
        // The cost of earlier attempts stays reserved until the batch ends, when the whole reservation is settled.
        const toWei = batch.formerGasWei + maxGasWei;
        await adjustReservation(tx, sponsorship, { payout, batch, toWei });
        return true;
      }),

    /** signed → sent, or sent with another value of `in_doubt`. */
    sent: ({ batch, inDoubt, now }: { batch: PayoutBatch; inDoubt: boolean; now: Date }): Promise<boolean> =>
      change(prisma, batch, "sent", { inDoubt }, now),

    /** signed or sent → mined: the block shows the money as spent. */
    mine: (mined: Mined): Promise<boolean> =>
      database.transaction(async (tx) => {
        const data = { ...seenIn(mined, 1), inDoubt: false };
        if (!(await change(tx, mined.batch, "mined", data, mined.now))) return false;
        await syncHold(tx, batchName(mined.batch), false, mined.now);
        return true;
      }),

    /** Notes that the operation reverted. The batch stays `sent`, because a reorganisation may still remove that block. */
    noteRevert: (mined: Mined & { confirmations: number }): Promise<boolean> =>
      change(prisma, mined.batch, "sent", { ...seenIn(mined, mined.confirmations), inDoubt: true }, mined.now),

    /** Notes the block that holds the operation now, and how many blocks are on top of it. */
    follow: (mined: Mined & { confirmations: number }): Promise<boolean> =>
      change(prisma, mined.batch, "mined", seenIn(mined, mined.confirmations), mined.now),

    /** mined → sent: a reorganisation took its block, and the money is to be spent again. */
    unmine: ({ batch, now }: { batch: PayoutBatch; now: Date }): Promise<boolean> =>
      database.transaction(async (tx) => {
        const gone: Change = {
          txHash: null,
          blockNumber: null,
          confirmations: 0,
          gasCostWei: toDecimal(batch.formerGasWei),
        };
        if (!(await change(tx, batch, "sent", { ...gone, inDoubt: true }, now))) return false;
        await syncHold(tx, batchName(batch), true, now);
        return true;
      }),

    /** signed or sent → queued: the attempt can never have an effect any more. */
    retry: ({ batch, now }: { batch: PayoutBatch; now: Date }): Promise<boolean> =>
      change(prisma, batch, "queued", { ...NO_ATTEMPT, formerGasWei: toDecimal(batch.gasCostWei) }, now),

    /** queued stays: it could not be simulated, though no row of it is at fault. */
    block: ({ batch, failure, now }: { batch: PayoutBatch; failure: Failure; now: Date }): Promise<boolean> =>
      change(prisma, batch, "queued", { blockedSince: now, failure: toStored(failure) }, now),

    /** mined → paid. `outcomes` are the rows of which the chain shows something else than was asked for. */
    pay: (input: Mined & { payout: DrivenPayout; outcomes: readonly RowOutcome[]; confirmations: number }) =>
      database.transaction(async (tx) => {
        const { payout, batch, outcomes, now } = input;
        await lockPayout(tx, batch.payoutId);
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
        await countRows(tx, { payoutId: batch.payoutId, completed, failed: failed.length, now });
        const spentWei = batch.formerGasWei + input.receipt.actualGasCost;
        await settleReservation(tx, sponsorship, { payout, batch, spentWei });
        return true;
      }),

    /** queued, signed or sent → failed. */
    fail: (input: { payout: DrivenPayout; batch: PayoutBatch; failure: Failure; now: Date }): Promise<boolean> =>
      database.transaction(async (tx) => {
        await lockPayout(tx, input.batch.payoutId);
        return endUnpaid(tx, input);
      }),

    /** queued stays, without the rows at fault: their money is free at once. Without any row left the batch has failed. */
    setAside: (input: { payout: DrivenPayout; batch: PayoutBatch; outcomes: readonly RowOutcome[]; now: Date }) =>
      database.transaction(async (tx) => {
        const { payout, batch, outcomes, now } = input;
        await lockPayout(tx, batch.payoutId);
        const leftBase = outcomes.reduce((left, { amountBase }) => left - amountBase, batch.amountBase);
        const rows = batch.rows - outcomes.length;
        const data: Change = { rows, amountBase: toDecimal(leftBase), blockedSince: null, failure: Prisma.DbNull };
        const end: Change = rows > 0 ? data : { ...data, failure: toStored(ALL_ROWS_REFUSED) };
        if (!(await change(tx, batch, rows > 0 ? "queued" : "failed", end, now))) return false;
        await writeOutcomes(tx, batch, outcomes, now);
        if (rows > 0) await shrinkHold(tx, batch, leftBase);
        else await syncHold(tx, batchName(batch), false, now);
        await countRows(tx, { payoutId: batch.payoutId, completed: 0, failed: outcomes.length, now });
        if (rows === 0) await settleReservation(tx, sponsorship, { payout, batch, spentWei: batch.gasCostWei });
        return true;
      }),

    /** queued stays with the first half of its rows; a new batch gets the others, half of the budget and their money. */
    halve: (input: { batch: PayoutBatch; rows: readonly PayableRow[]; now: Date }): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { batch, rows, now } = input;
        await lockPayout(tx, batch.payoutId);
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
      }),

    /** processing → what its batches came to. False while one of them is open. */
    finish: ({ projectId, payoutId }: DrivenPayout, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        await lockPayout(tx, payoutId);
        const where = { projectId, payoutId, state: { in: [...OPEN_STATES] } };
        if ((await tx.walletPayoutBatch.count({ where })) > 0) return false;
        const payout = await tx.payout.findUniqueOrThrow({ where: { id: payoutId } });
        const end = endOf(payout);
        const failure = end.status === "failed" ? await firstFailure(tx, { projectId, payoutId }) : null;
        const { count } = await tx.payout.updateMany({
          where: { id: payoutId, status: "processing" },
          data: { ...end, updatedAt: now, ...(failure === null ? {} : { failure }) },
        });
        if (count === 1)
          await recordPayoutEvents(sqlOf(tx), { payoutIds: [payoutId], type: `payout.${end.status}`, at: now });
        return true;
      }),
  };
};

/** The failure of the first batch that has one. */
const firstFailure = async (
  tx: Tx,
  at: { projectId: string; payoutId: string },
): Promise<Prisma.InputJsonValue | null> => {
  const where = { ...at, failure: { not: Prisma.DbNull } };
  const batch = await tx.walletPayoutBatch.findFirst({ where, orderBy: { number: "asc" }, select: { failure: true } });
  return batch?.failure ?? null;
};

export type BatchRepository = ReturnType<typeof createBatchRepository>;

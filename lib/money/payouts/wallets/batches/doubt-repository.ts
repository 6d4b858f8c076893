/**
 * Reads batches in doubt, whose payments another operation may have made, and stores the decisions
 * about them.
 */
import { bindDeps } from "@/lib/core/bind-deps";
import { isFinal, type Status } from "@/lib/core/status";
import type { Database, Tx } from "@/lib/platform/db/client";
import { toBigInt, toDecimal } from "@/lib/platform/db/decimal";
import { Prisma } from "@/lib/platform/db/generated/client";
import { sqlOf } from "@/lib/platform/db/sql";
import type { Approved } from "@/lib/trust/proofs/service";
import { recordAudit, type AuditEntry } from "@/lib/news/audit/service";
import { toStored } from "@/lib/platform/db/codecs";
import { endOf } from "../../payout";
import {
  recordDecidedDoubt,
  recordPayoutEvents,
  type DecidedDoubt,
} from "../../project-event-repository";
import { lockPayout } from "../../repository";
import { bearerOf, settleAccount } from "../account-side-repository";
import { firstFailure } from "./end-repository";
import { REPLACED } from "./failures";
import {
  batchVersion,
  parseBatch,
  type Failure,
  type PayableRow,
  type PayoutBatch,
} from "./payout-batch";
import { storeOutcomes } from "./rows-repository";
import { change, type Change } from "./transition-repository";

interface Deps {
  readonly database: Database;
}

interface BatchKey {
  readonly projectId: string;
  readonly payoutId: string;
  readonly number: number;
}

/**
 * A failed batch whose payments another operation may have made (a batch in doubt), with the rows
 * that may have been paid.
 */
export interface DoubtfulBatch {
  readonly batch: PayoutBatch;
  readonly rows: readonly PayableRow[];
  /** Hashes of the operations that paid the other batches of the payout. */
  readonly knownHashes: ReadonlySet<string>;
}

const storedFailureCode = (failure: Prisma.JsonValue): unknown =>
  typeof failure === "object" && failure !== null && "code" in failure ? failure.code : null;

const find = async (
  { database: { prisma } }: Deps,
  { projectId, payoutId, number }: BatchKey,
) => {
  const all = await prisma.walletPayoutBatch.findMany({
    where: { projectId, payoutId },
    omit: { userOperation: true },
  });
  const row = all.find((each) => each.number === number);
  if (row?.state !== "failed" || storedFailureCode(row.failure) !== REPLACED.code) return null;
  const items = await prisma.walletPayoutItem.findMany({
    where: { projectId, payoutId, batch: number, status: null },
    orderBy: { index: "asc" },
  });
  const others = all.filter((each) => each.number !== number && each.state === "paid");
  return {
    batch: parseBatch(row),
    rows: items.map(({ index, recipient, amountBase }) => ({
      ...{ index, recipient: recipient as `0x${string}` },
      amountBase: toBigInt(amountBase),
    })),
    knownHashes: new Set(others.flatMap(({ userOpHash }) => userOpHash ?? [])),
  } satisfies DoubtfulBatch;
};

export interface Decided
  extends Pick<DoubtfulBatch, "batch" | "rows">, Pick<DecidedDoubt, "decision"> {
  /** The rows that were not paid. The remaining rows of the batch were paid. */
  readonly unpaid: readonly PayableRow[];
  readonly failure: Failure;
  /** The transaction that paid the remaining rows; null when unknown. */
  readonly by: {
    readonly userOpHash: string;
    readonly txHash: string;
    readonly blockNumber: bigint;
  } | null;
  readonly audit: AuditEntry;
  readonly approved: Approved | null;
}

const totalOf = (rows: readonly PayableRow[]): bigint =>
  rows.reduce((sum, { amountBase }) => sum + amountBase, 0n);

/**
 * Changes the batch from failed to paid, without its unpaid rows. When no row was paid, the batch
 * stays failed and gets another failure. Returns false when somebody else has decided before.
 */
const end = async (
  tx: Tx,
  { batch, unpaid, failure, by, audit: { at } }: Decided,
): Promise<boolean> => {
  if (unpaid.length === batch.rows)
    return change(tx, batch, "failed", { failure: toStored(failure) }, at);
  const seen: Change =
    by === null
      ? {}
      : {
          userOpHash: by.userOpHash,
          txHash: by.txHash,
          blockNumber: toDecimal(by.blockNumber),
        };
  const data: Change = {
    ...seen,
    rows: batch.rows - unpaid.length,
    amountBase: toDecimal(batch.amountBase - totalOf(unpaid)),
    failure: Prisma.DbNull,
  };
  if (!(await change(tx, batch, "paid", data, at))) return false;
  const outcomes = unpaid.map(({ index, amountBase }) => ({
    index,
    amountBase,
    status: "failed" as const,
    failure,
  }));
  // No events are written here, because each row had its event when the batch failed.
  await storeOutcomes(tx, batch, outcomes);
  return true;
};

/**
 * Moves `paid` rows from the payout's failed count to its completed count. When the payout has
 * ended already, computes its final state again, and writes an event when that state changes.
 */
const countPaid = async (
  tx: Tx,
  { projectId, payoutId }: PayoutBatch,
  paid: number,
  at: Date,
): Promise<void> => {
  const where = { projectId, id: payoutId };
  const counts = { itemsCompleted: { increment: paid }, itemsFailed: { decrement: paid } };
  await tx.payout.updateMany({ where, data: { ...counts, updatedAt: at } });
  const payout = await tx.payout.findFirstOrThrow({ where });
  if (!isFinal(payout.status as Status)) return;
  const { status, subStatus } = endOf(payout);
  const failure = status === "failed" ? await firstFailure(tx, { projectId, payoutId }) : null;
  await tx.payout.updateMany({
    where,
    data: { status, subStatus, failure: failure ?? Prisma.DbNull },
  });
  if (status === payout.status) return;
  await recordPayoutEvents(sqlOf(tx), {
    projectId,
    payoutIds: [payoutId],
    type: `payout.${status}`,
    at,
  });
};

const recordEvent = (
  tx: Tx,
  { batch, rows, unpaid, decision, audit: { at } }: Decided,
): Promise<void> => {
  const { projectId, payoutId, number } = batch;
  const unpaidRows = unpaid.map(({ index }) => index);
  const paidRows = rows
    .map(({ index }) => index)
    .filter((index) => !unpaidRows.includes(index));
  return recordDecidedDoubt(sqlOf(tx), {
    projectId,
    payoutId,
    batch: number,
    decision,
    paidRows,
    unpaidRows,
    at,
  });
};

/**
 * Stores a decision about a batch in doubt, and settles its money.
 * @returns false when the batch is no longer in doubt; nothing is stored then
 */
const store = ({ database }: Deps, decided: Decided): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { batch, unpaid, audit, approved } = decided;
    const { projectId, payoutId, token } = batch;
    await lockPayout(sqlOf(tx), { projectId, id: payoutId });
    if (!(await end(tx, decided))) return false;
    await approved?.consume(tx);
    const returnedBase = totalOf(unpaid);
    await settleAccount(sqlOf(tx), {
      ...{ projectId, payoutId, token, part: batchVersion(batch), now: audit.at },
      ...{
        bearer: await bearerOf(tx, projectId, payoutId),
        paidBase: batch.amountBase - returnedBase,
        returnedBase,
      },
    });
    await recordEvent(tx, decided);
    await countPaid(tx, batch, batch.rows - unpaid.length, audit.at);
    await recordAudit(tx, audit);
    return true;
  });

export const createDoubtRepository = (database: Database) => ({
  find: bindDeps({ database }, find),
  store: bindDeps({ database }, store),
});

export type DoubtRepository = ReturnType<typeof createDoubtRepository>;

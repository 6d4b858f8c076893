import { bindDeps } from "@/lib/core/bind-deps";
import type { Database, Tx } from "@/lib/platform/db/client";
import { toBigInt } from "@/lib/platform/db/decimal";
import type { Prisma } from "@/lib/platform/db/generated/client";
import { sqlOf } from "@/lib/platform/db/sql";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import { toStored } from "@/lib/platform/db/codecs";
import type { PayoutKey } from "../payout";
import { recordPayoutEvents } from "../project-event-repository";
import { lockPayout } from "../repository";
import { holdBatches, type BatchHold, type Holding } from "./hold-batch-repository";

interface WalletPayoutsDeps {
  readonly database: Database;
  readonly sponsorship: Pick<SponsorshipService, "reserve">;
}

/**
 * Changes payouts to wallets that wait for money, and reads their batches that are not signed yet.
 */
export const createWalletPayoutsRepository = (deps: WalletPayoutsDeps) => ({
  tryHolding: bindDeps(deps, tryHolding),
  beginFunded: bindDeps(deps, beginFunded),
  skipFunding: bindDeps(deps, skipFunding),
  failFunding: bindDeps(deps, failFunding),
  queuedBatches: bindDeps(deps, queuedBatches),
});

/** Rolls back a transaction that only tests whether the money can be held. */
class TriedError extends Error {}

const arrived = async (tx: Tx, { projectId, id }: PayoutKey, now: Date): Promise<boolean> => {
  const { count } = await tx.payout.updateMany({
    where: { projectId, id, status: "processing", subStatus: "bridging" },
    data: { subStatus: "queued", updatedAt: now },
  });
  return count === 1;
};

const holdOf = (batch: {
  number: number;
  token: string;
  amountBase: Prisma.Decimal;
}): BatchHold => ({
  number: batch.number,
  token: batch.token,
  amountBase: toBigInt(batch.amountBase),
});

/**
 * Tests whether the money can be held, and rolls back.
 * @throws the errors of `holdBatches`
 */
const tryHolding = async (
  { database, sponsorship }: WalletPayoutsDeps,
  holding: Holding,
  now: Date,
): Promise<void> => {
  const tried = database.rawTransaction(async (sql) => {
    await holdBatches(sql, sponsorship, holding, now);
    throw new TriedError();
  });
  await tried.catch((error: unknown) => {
    if (!(error instanceof TriedError)) throw error;
  });
};

/**
 * Queues a payout whose missing money has arrived from another chain, and holds its money.
 * Returns false when the payout no longer waits for the missing money.
 */
const beginFunded = (
  { database, sponsorship }: WalletPayoutsDeps,
  payout: PayoutKey,
  holding: Holding,
  now: Date,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    if (!(await arrived(tx, payout, now))) return false;
    await holdBatches(sqlOf(tx), sponsorship, holding, now);
    return true;
  });

/**
 * Changes a payout from bridging to queued without holding money, when all of its batches were
 * cancelled while it waited. The driver then ends the payout. Returns false when the payout no
 * longer waits for money.
 */
const skipFunding = (
  { database }: WalletPayoutsDeps,
  payout: PayoutKey,
  now: Date,
): Promise<boolean> => database.transaction((tx) => arrived(tx, payout, now));

/**
 * Changes a payout from bridging to failed, with all batches that were not cancelled, because the
 * missing part does not arrive. Returns false when the payout no longer waits for it.
 */
const failFunding = (
  { database }: WalletPayoutsDeps,
  { id, projectId }: PayoutKey,
  failure: { code: string; message: string; retryable: boolean },
  now: Date,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const payout = await lockPayout(sqlOf(tx), { projectId, id });
    if (payout?.status !== "processing" || payout.subStatus !== "bridging") return false;
    const ended = await tx.walletPayoutBatch.updateManyAndReturn({
      where: { projectId, payoutId: id, state: "queued" },
      data: {
        state: "failed",
        failure: toStored(failure),
        version: { increment: 1 },
        updatedAt: now,
      },
    });
    await tx.payout.updateMany({
      where: { projectId, id, status: "processing", subStatus: "bridging" },
      data: {
        status: "failed",
        subStatus: "full",
        failure: toStored(failure),
        itemsFailed: ended.reduce((sum, { rows }) => sum + rows, 0),
        updatedAt: now,
      },
    });
    // The rows end with the payout, so they need no separate events.
    await recordPayoutEvents(sqlOf(tx), {
      projectId,
      payoutIds: [id],
      type: "payout.failed",
      at: now,
    });
    return true;
  });

const queuedBatches = async (
  { database }: WalletPayoutsDeps,
  projectId: string,
  payoutId: string,
): Promise<(BatchHold & { readonly rows: number })[]> => {
  const batches = await database.prisma.walletPayoutBatch.findMany({
    where: { projectId, payoutId, state: "queued" },
    orderBy: { number: "asc" },
  });
  return batches.map((batch) => ({ ...holdOf(batch), rows: batch.rows }));
};

export type WalletPayoutsRepository = ReturnType<typeof createWalletPayoutsRepository>;

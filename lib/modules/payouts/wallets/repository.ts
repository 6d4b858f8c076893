import { bindDeps } from "@/lib/core/bind-deps";
import type { Database, Tx } from "@/lib/db/client";
import { toBigInt } from "@/lib/db/decimal";
import type { Prisma } from "@/lib/db/generated/client";
import { sqlOf, type Sql } from "@/lib/db/sql";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toStored } from "@/lib/ports/routing-json";
import type { KeyFilters } from "../key-filters";
import type { WalletsPayout } from "../payout";
import { cancelVotes } from "../ask-votes";
import type { PayoutKey } from "../repository";
import { recordPayoutEvents } from "../project-event-repository";
import { holdBatches, releaseBatches, type BatchHold, type Holding } from "./hold-batch-repository";
import { beginJob, createNewPayoutRepository } from "./new-payout-repository";

interface WalletPayoutsDeps {
  readonly database: Database;
  readonly sponsorship: Pick<SponsorshipService, "reserve" | "settle">;
  readonly keyFilters: Pick<KeyFilters, "read">;
}

/** Payouts to wallets: stored, approved, begun when their missing part has arrived, and cancelled. */
export const createWalletPayoutsRepository = (deps: WalletPayoutsDeps) => {
  return {
    ...createNewPayoutRepository(deps),
    tryHolding: bindDeps(deps, tryHolding),
    approve: bindDeps(deps, approve),
    approveFunded,
    beginFunded: bindDeps(deps, beginFunded),
    skipFunding: bindDeps(deps, skipFunding),
    failFunding: bindDeps(deps, failFunding),
    cancel: bindDeps(deps, cancel),
    queuedBatches: bindDeps(deps, queuedBatches),
  };
};

/** Thrown to roll back a transaction that only tried whether the money could be held. */
class TriedError extends Error {}

/** Locks the payout's row, so that approving, cancelling and beginning it follow one another. */
const lockPayout = async (
  tx: Tx,
  { projectId, id }: PayoutKey,
): Promise<{ status: string; subStatus: string } | null> => {
  const [row] = await tx.$queryRaw<{ status: string; subStatus: string }[]>`
    SELECT status, sub_status AS "subStatus" FROM payout WHERE project_id = ${projectId} AND id = ${id} FOR NO KEY UPDATE`;
  return row ?? null;
};

const arrived = async (tx: Tx, { projectId, id }: PayoutKey, now: Date): Promise<boolean> => {
  const { count } = await tx.payout.updateMany({
    where: { projectId, id, status: "processing", subStatus: "bridging" },
    data: { subStatus: "queued", updatedAt: now },
  });
  return count === 1;
};

const holdOf = (batch: { number: number; token: string; amountBase: Prisma.Decimal }): BatchHold => ({
  number: batch.number,
  token: batch.token,
  amountBase: toBigInt(batch.amountBase),
});

/** Tries to hold the money and rolls back; throws when holding would fail. */
const tryHolding = async ({ database, sponsorship }: WalletPayoutsDeps, holding: Holding, now: Date): Promise<void> => {
  const tried = database.transaction(async (tx) => {
    await holdBatches(tx, sponsorship, holding, now);
    throw new TriedError();
  });
  await tried.catch((error: unknown) => {
    if (!(error instanceof TriedError)) throw error;
  });
};

/** How a payout leaves its approval. */
interface Approval {
  readonly audit: AuditEntry;
  /** Evaluates the policies and returns the evaluation's id. @throws DomainError `policy_violation` */
  readonly enforce: (sql: Sql) => Promise<string>;
}

/** awaiting approval → queued, with its money held. False when it does not wait for it any more. */
const approve = (
  { database, sponsorship }: WalletPayoutsDeps,
  { projectId, id: payoutId }: PayoutKey,
  holding: Holding,
  { audit, enforce }: Approval,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const now = audit.at;
    const { count } = await tx.payout.updateMany({
      where: { projectId, id: payoutId, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
      data: { subStatus: "queued", expiresAt: null, updatedAt: now },
    });
    if (count === 0) return false;
    await tx.payout.updateMany({
      where: { projectId, id: payoutId },
      data: { evaluationId: await enforce(sqlOf(tx)) },
    });
    await recordAudit(tx, audit);
    await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [payoutId], type: "payout.approved", at: now });
    await beginJob(tx, payoutId, now);
    await holdBatches(tx, sponsorship, holding, now);
    return true;
  });

/** awaiting approval → prepared, in the transaction that accepts the operation which funds it. False: it does not await it any more. */
const approveFunded = async (
  tx: Tx,
  { projectId, payoutId, operationId }: { projectId: string; payoutId: string; operationId: string },
  { audit, enforce }: Approval,
): Promise<boolean> => {
  const now = audit.at;
  const { count } = await tx.payout.updateMany({
    where: { projectId, id: payoutId, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
    data: { subStatus: "prepared", expiresAt: null, updatedAt: now },
  });
  if (count === 0) return false;
  await tx.payout.updateMany({ where: { projectId, id: payoutId }, data: { evaluationId: await enforce(sqlOf(tx)) } });
  await tx.walletPayout.update({
    where: { projectId_payoutId: { projectId, payoutId } },
    data: { fundedBy: operationId },
  });
  await recordAudit(tx, audit);
  await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [payoutId], type: "payout.approved", at: now });
  await beginJob(tx, payoutId, now);
  return true;
};

/** bridging → queued, with its money held: the missing part has arrived. False when it does not wait for that any more. */
const beginFunded = (
  { database, sponsorship }: WalletPayoutsDeps,
  payout: PayoutKey,
  holding: Holding,
  now: Date,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    if (!(await arrived(tx, payout, now))) return false;
    await holdBatches(tx, sponsorship, holding, now);
    return true;
  });

/** bridging → queued, without holding money: every batch was cancelled meanwhile, so the driver only has to end the payout. */
const skipFunding = ({ database }: WalletPayoutsDeps, payout: PayoutKey, now: Date): Promise<boolean> =>
  database.transaction((tx) => arrived(tx, payout, now));

/** bridging → failed, with every row of it that was not cancelled: the missing part does not come. */
const failFunding = (
  { database }: WalletPayoutsDeps,
  { id, projectId }: Pick<WalletsPayout, "id" | "projectId">,
  failure: { code: string; message: string; retryable: boolean },
  now: Date,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const payout = await lockPayout(tx, { projectId, id });
    if (payout?.status !== "processing" || payout.subStatus !== "bridging") return false;
    const ended = await tx.walletPayoutBatch.updateManyAndReturn({
      where: { projectId, payoutId: id, state: "queued" },
      data: { state: "failed", failure: toStored(failure), version: { increment: 1 }, updatedAt: now },
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
    // The rows end with the payout, so none of them has an event of its own.
    await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [id], type: "payout.failed", at: now });
    return true;
  });

/**
 * Stops every batch that was not signed; their money and their part of the sponsor's budget are free again. A payout that had not
 * begun is cancelled; one that is processing ends when its other batches have. False when there is nothing left to stop.
 */
const cancel = (
  { database, sponsorship }: WalletPayoutsDeps,
  at: { projectId: string; payoutId: string },
  audit: AuditEntry,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const now = audit.at;
    const payout = await lockPayout(tx, { projectId: at.projectId, id: at.payoutId });
    if (payout?.status !== "pending" && payout?.status !== "processing") return false;
    const isHeld = payout.status === "processing" || payout.subStatus === "queued";
    const stopped = await releaseBatches(tx, sponsorship, { ...at, isHeld, now });
    if (payout.status === "pending") {
      await tx.payout.updateMany({
        where: { projectId: at.projectId, id: at.payoutId, status: "pending" },
        data: { status: "cancelled", expiresAt: null, updatedAt: now },
      });
      await cancelVotes(sqlOf(tx), audit, at.payoutId);
      const { projectId, payoutId } = at;
      await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [payoutId], type: "payout.cancelled", at: now });
    } else if (stopped === 0) return false;
    await recordAudit(tx, audit);
    return true;
  });

/** The amounts of the batches that are not signed yet. */
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

import { currentTraceparent } from "@/lib/core/tracing";
import type { Prisma } from "@/lib/db/generated/client";
import type { Database, Tx } from "@/lib/db/client";
import { toBigInt } from "@/lib/db/decimal";
import { sqlOf, type Sql } from "@/lib/db/sql";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toStored } from "@/lib/ports/routing-json";
import { recordPayoutEvents } from "../project-events";
import type { WalletsPayout } from "../payout";
import { unlessUsed, UsedAlreadyError } from "../repository";
import { claimRowKeys, type DuplicateRow, type RowKeys } from "../duplicate-rows";
import { holdBatches, releaseBatches, type BatchHold, type Holding } from "./hold-batches";
import { tokenName, type PayoutPlan } from "./rows";
import { walletPayoutColumns, type PayoutWarning, type WalletPayout } from "./wallet-payout";

/** The part of a new payout that only payouts to wallets have. */
export type NewWalletPayout = Omit<WalletPayout, "projectId" | "payoutId" | "fundedBy">;

/** How a payout runs that needs no code: its money is held, or another operation brings the missing part first. */
export type Running =
  { readonly by: "holding"; readonly holding: Holding } | { readonly by: "funding"; readonly operationId: string };

/** Thrown inside the transaction that would let a payout run at once, when its caller's policy needs a code after all. */
export class NotAdmittedError extends Error {}

export interface NewPayoutToWallets {
  readonly payout: WalletsPayout;
  readonly own: NewWalletPayout;
  readonly plan: PayoutPlan;
  readonly keys: RowKeys;
  /** Duplicates that were allowed, in words. */
  readonly warningsOf: (duplicates: readonly DuplicateRow[]) => readonly PayoutWarning[];
  /** Throws when the money does not suffice. Called after the check for duplicates, whose error comes first. */
  readonly refuse: () => void;
  /** Whether it may run without a code; notes what it spends. */
  readonly admit: (sql: Sql) => Promise<boolean>;
  /** How it runs where it may do so at once; null where it awaits approval in any case. */
  readonly running: Running | null;
  readonly audit: (stored: WalletsPayout) => AuditEntry;
  readonly expiresAt: Date;
}

/** Thrown to roll back a transaction that only tried whether the money could be held. */
class TriedError extends Error {}

const INSERT_PAYOUT = `
  INSERT INTO payout (id, project_id, kind, mode, status, sub_status, reference, total_base, items_total, digest, idempotency_key,
    retry_of, created_by, created_at, updated_at, expires_at)
  VALUES ($1, $2, 'wallets', 'independent', 'pending', $3, $4, 0, $5::int, $6::bytea, $7, $8, $9, $10::timestamptz, $10::timestamptz,
    $11::timestamptz)
  ON CONFLICT DO NOTHING`;

const INSERT_ITEMS = `
  INSERT INTO wallet_payout_item (project_id, payout_id, index, recipient, token, amount_base, reference, note, batch)
  SELECT $1, $2, (number - 1)::int, row->>0, row->>1, (row->>2)::numeric, row->>3, row->>4, (row->>5)::int
  FROM json_array_elements($3::json) WITH ORDINALITY AS element (row, number)`;

const INSERT_BATCHES = `
  INSERT INTO wallet_payout_batch (project_id, payout_id, number, token, rows, amount_base, state, updated_at)
  SELECT $1, $2, (row->>0)::int, row->>1, (row->>2)::int, (row->>3)::numeric, 'queued', $4::timestamptz
  FROM json_array_elements($3::json) AS element (row)`;

/** @returns 0: its key, or what it tries again, was used by another one */
const insertPayout = (sql: Sql, payout: WalletsPayout): Promise<number> =>
  sql.change(INSERT_PAYOUT, [
    payout.id,
    payout.projectId,
    payout.subStatus,
    payout.reference,
    payout.itemsTotal,
    payout.digest,
    payout.idempotencyKey,
    payout.retryOf,
    payout.createdBy,
    payout.createdAt,
    payout.expiresAt,
  ]);

const insertOwn = async (
  tx: Tx,
  { id: payoutId, projectId }: WalletsPayout,
  own: NewWalletPayout,
  fundedBy: string | null,
): Promise<void> => {
  await tx.walletPayout.create({ data: walletPayoutColumns({ ...own, projectId, payoutId, fundedBy }) });
};

const insertPlan = async (sql: Sql, payout: WalletsPayout, plan: PayoutPlan): Promise<void> => {
  const rows = plan.rows.map(({ recipient, token, amountBase, reference, note, batch }) => [
    recipient,
    tokenName(token),
    amountBase.toString(),
    reference,
    note,
    batch,
  ]);
  await sql.change(INSERT_ITEMS, [payout.projectId, payout.id, JSON.stringify(rows)]);
  const batches = plan.batches.map(({ number, token, rows: count, amountBase }) => [
    number,
    tokenName(token),
    count,
    amountBase.toString(),
  ]);
  await sql.change(INSERT_BATCHES, [payout.projectId, payout.id, JSON.stringify(batches), payout.createdAt]);
};

const beginJob = (tx: Tx, payoutId: string, now: Date): Promise<unknown> =>
  tx.job.create({ data: { id: payoutId, queue: "payout", runAt: now, traceparent: currentTraceparent() } });

/** Locks the payout's row, so that approving, cancelling and beginning it follow one another. */
const lockPayout = async (tx: Tx, id: string): Promise<{ status: string; subStatus: string } | null> => {
  const [row] = await tx.$queryRaw<{ status: string; subStatus: string }[]>`
    SELECT status, sub_status AS "subStatus" FROM payout WHERE id = ${id} FOR NO KEY UPDATE`;
  return row ?? null;
};

const arrived = async (tx: Tx, payoutId: string, now: Date): Promise<boolean> => {
  const { count } = await tx.payout.updateMany({
    where: { id: payoutId, status: "processing", subStatus: "bridging" },
    data: { subStatus: "queued", updatedAt: now },
  });
  return count === 1;
};

const holdOf = (batch: { number: number; token: string; amountBase: Prisma.Decimal }): BatchHold => ({
  number: batch.number,
  token: batch.token,
  amountBase: toBigInt(batch.amountBase),
});

export const createWalletPayoutsRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "reserve" | "settle">,
) => {
  const storeIn = async (tx: Tx, input: NewPayoutToWallets): Promise<WalletsPayout> => {
    const sql = sqlOf(tx);
    const { payout, plan, running } = input;
    const now = payout.createdAt;
    const duplicates = await claimRowKeys(sql, payout, input.keys);
    input.refuse();
    const runs = running !== null && (await input.admit(sql));
    // The operation that would fund it is accepted in the same transaction, and must not be.
    if (!runs && running?.by === "funding") throw new NotAdmittedError();
    const fundedBy = runs && running.by === "funding" ? running.operationId : null;
    const stored: WalletsPayout = runs
      ? { ...payout, subStatus: fundedBy === null ? "queued" : "prepared", expiresAt: null }
      : { ...payout, subStatus: "awaiting_approval", expiresAt: input.expiresAt };
    if ((await insertPayout(sql, stored)) === 0) throw new UsedAlreadyError();
    const warnings = [...input.warningsOf(duplicates), ...input.own.warnings];
    await insertOwn(tx, stored, { ...input.own, warnings }, fundedBy);
    await insertPlan(sql, stored, plan);
    await recordAudit(tx, input.audit(stored));
    await recordPayoutEvents(sql, { payoutIds: [stored.id], type: "payout.created", at: now });
    if (!runs) return stored;
    await beginJob(tx, stored.id, now);
    if (running.by === "holding") await holdBatches(tx, sponsorship, running.holding, now);
    return stored;
  };

  return {
    /**
     * Stores a payout with its rows and batches. Where it may run at once its money is held in the same transaction, as an
     * operation's is; else it awaits approval until `expiresAt` and holds nothing. Null: its key, or what it tries again, was used
     * by another one.
     * @throws DomainError `duplicate_payout`, `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`;
     * FundsMovedError when a balance has to be read again
     */
    insert: (input: NewPayoutToWallets): Promise<WalletsPayout | null> =>
      unlessUsed(database.transaction((tx) => storeIn(tx, input))),

    /** As `insert`, in the transaction that accepts the operation which funds it. @throws UsedAlreadyError, NotAdmittedError */
    insertFunded: storeIn,

    /** Tries to hold the money and rolls back; throws when holding would fail. */
    tryHolding: async (holding: Holding, now: Date): Promise<void> => {
      const tried = database.transaction(async (tx) => {
        await holdBatches(tx, sponsorship, holding, now);
        throw new TriedError();
      });
      await tried.catch((error: unknown) => {
        if (!(error instanceof TriedError)) throw error;
      });
    },

    /** awaiting approval → queued, with its money held. False when it does not wait for it any more. */
    approve: (payoutId: string, holding: Holding, audit: AuditEntry): Promise<boolean> =>
      database.transaction(async (tx) => {
        const now = audit.at;
        const { count } = await tx.payout.updateMany({
          where: { id: payoutId, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
          data: { subStatus: "queued", expiresAt: null, updatedAt: now },
        });
        if (count === 0) return false;
        await recordAudit(tx, audit);
        await recordPayoutEvents(sqlOf(tx), { payoutIds: [payoutId], type: "payout.approved", at: now });
        await beginJob(tx, payoutId, now);
        await holdBatches(tx, sponsorship, holding, now);
        return true;
      }),

    /** awaiting approval → prepared, in the transaction that accepts the operation which funds it. False: it does not await it any more. */
    approveFunded: async (
      tx: Tx,
      { projectId, payoutId, operationId }: { projectId: string; payoutId: string; operationId: string },
      audit: AuditEntry,
    ): Promise<boolean> => {
      const now = audit.at;
      const { count } = await tx.payout.updateMany({
        where: { id: payoutId, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
        data: { subStatus: "prepared", expiresAt: null, updatedAt: now },
      });
      if (count === 0) return false;
      await tx.walletPayout.update({
        where: { projectId_payoutId: { projectId, payoutId } },
        data: { fundedBy: operationId },
      });
      await recordAudit(tx, audit);
      await recordPayoutEvents(sqlOf(tx), { payoutIds: [payoutId], type: "payout.approved", at: now });
      await beginJob(tx, payoutId, now);
      return true;
    },

    /** bridging → queued, with its money held: the missing part has arrived. False when it does not wait for that any more. */
    beginFunded: (payoutId: string, holding: Holding, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        if (!(await arrived(tx, payoutId, now))) return false;
        await holdBatches(tx, sponsorship, holding, now);
        return true;
      }),

    /** bridging → queued, without holding money: every batch was cancelled meanwhile, so the driver only has to end the payout. */
    skipFunding: (payoutId: string, now: Date): Promise<boolean> =>
      database.transaction((tx) => arrived(tx, payoutId, now)),

    /** bridging → failed, with every row of it that was not cancelled: the missing part does not come. */
    failFunding: (
      { id, projectId }: Pick<WalletsPayout, "id" | "projectId">,
      failure: { code: string; message: string; retryable: boolean },
      now: Date,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        const payout = await lockPayout(tx, id);
        if (payout?.status !== "processing" || payout.subStatus !== "bridging") return false;
        const ended = await tx.walletPayoutBatch.updateManyAndReturn({
          where: { projectId, payoutId: id, state: "queued" },
          data: { state: "failed", failure: toStored(failure), version: { increment: 1 }, updatedAt: now },
        });
        await tx.payout.updateMany({
          where: { id, status: "processing", subStatus: "bridging" },
          data: {
            status: "failed",
            subStatus: "full",
            failure: toStored(failure),
            itemsFailed: ended.reduce((sum, { rows }) => sum + rows, 0),
            updatedAt: now,
          },
        });
        // The rows end with the payout, so none of them has an event of its own.
        await recordPayoutEvents(sqlOf(tx), { payoutIds: [id], type: "payout.failed", at: now });
        return true;
      }),

    /**
     * Stops every batch that was not signed; their money and their part of the sponsor's budget are free again. A payout that had not
     * begun is cancelled; one that is processing ends when its other batches have. False when there is nothing left to stop.
     */
    cancel: (at: { projectId: string; payoutId: string }, audit: AuditEntry): Promise<boolean> =>
      database.transaction(async (tx) => {
        const now = audit.at;
        const payout = await lockPayout(tx, at.payoutId);
        if (payout?.status !== "pending" && payout?.status !== "processing") return false;
        const stopped = await releaseBatches(tx, sponsorship, { ...at, now });
        if (payout.status === "pending") {
          await tx.payout.updateMany({
            where: { id: at.payoutId, status: "pending" },
            data: { status: "cancelled", expiresAt: null, updatedAt: now },
          });
          await recordPayoutEvents(sqlOf(tx), { payoutIds: [at.payoutId], type: "payout.cancelled", at: now });
        } else if (stopped === 0) return false;
        await recordAudit(tx, audit);
        return true;
      }),

    /** The amounts of the batches that are not signed yet. */
    queuedBatches: async (projectId: string, payoutId: string): Promise<(BatchHold & { readonly rows: number })[]> => {
      const batches = await database.prisma.walletPayoutBatch.findMany({
        where: { projectId, payoutId, state: "queued" },
        orderBy: { number: "asc" },
      });
      return batches.map((batch) => ({ ...holdOf(batch), rows: batch.rows }));
    },
  };
};

export type WalletPayoutsRepository = ReturnType<typeof createWalletPayoutsRepository>;

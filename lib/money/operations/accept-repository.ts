import { DomainError } from "@/lib/core/errors";
import type { Database, Tx } from "@/lib/platform/db/client";
import { keptSqlOn, type Sql, sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { int, type RowOf, table, text } from "@/lib/platform/db/table";
import { announceEvents, type OperationKey, projectEventsOf } from "./state-repository";
import { inOrder } from "@/lib/platform/db/in-order";
import { type AuditEntry, recordAuditOn } from "@/lib/news/audit/service";
import { currentTraceparent } from "@/lib/core/tracing";
import { type Handover, insertJobOn, type JobOwner } from "@/lib/platform/jobs/service";
import { type Funds, type Hold, insertHolds, requireFunds } from "@/lib/books/holds/service";
import { recordEventsOn } from "@/lib/news/events/service";
import type { Backing } from "@/lib/books/reserves/service";
import type { GasCost, SponsorshipService } from "@/lib/books/sponsorship/service";
import type { Passed } from "@/lib/trust/policies/service";
import { storedText } from "@/lib/platform/db/codecs";
import { parametersDigest } from "./parameters";
import type { Leg } from "./leg";
import { isPrivateKind } from "@/lib/core/movement-kinds";
import { insertLegs } from "./row-repository";
import { newOperations } from "./rows";
import { UsedMeanwhileError } from "./errors";

const sentTransactions = table({ chainId: int, hash: text, legId: text, actionId: text });

export type SentByWallet = RowOf<typeof sentTransactions>;

/**
 * Assigns each transaction to its leg, in the transaction that accepts the operation.
 * @throws DomainError `invalid_signature`, naming every action whose transaction belongs to another
 * leg
 */
const claimTransactions = async (db: Sql, sent: readonly SentByWallet[]): Promise<void> => {
  if (sent.length === 0) return;
  const rows = sent.map((each) => ({ ...each, hash: each.hash.toLowerCase() }));
  await db.change(sql`
    INSERT INTO wallet_transaction (${sentTransactions.names})
    SELECT ${sentTransactions.names} FROM ${sentTransactions.list(rows)} AS sent
    ORDER BY chain_id, hash
    ON CONFLICT DO NOTHING`);
  const stored = await sentTransactions.all(
    db,
    sql`
      SELECT ${sentTransactions.columns("t")}
      FROM ${sentTransactions.list(rows)} AS sent
      JOIN wallet_transaction t ON t.chain_id = sent.chain_id AND t.hash = sent.hash`,
  );
  const taken = rows.filter(
    ({ chainId, hash, legId, actionId }) =>
      !stored.some(
        (row) =>
          row.chainId === chainId &&
          row.hash === hash &&
          row.legId === legId &&
          row.actionId === actionId,
      ),
  );
  if (taken.length === 0) return;
  throw new DomainError(
    "invalid_signature",
    "A transaction was named for another action already. Nothing was recorded.",
    {
      details: taken.map(({ actionId }) => ({
        path: `signatures.${actionId}`,
        message: "names a transaction that counts for another action already",
        code: "already_used",
      })),
    },
  );
};

export const createWalletTransactionRepository = ({ prisma }: Database) => ({
  /**
   * Assigns a replacement transaction to its leg. Returns false when the transaction belongs to
   * another leg already.
   */
  adopt: async (sent: SentByWallet): Promise<boolean> => {
    const row = { ...sent, hash: sent.hash.toLowerCase() };
    await prisma.walletTransaction.createMany({ data: [row], skipDuplicates: true });
    const stored = await prisma.walletTransaction.findUnique({
      where: { chainId_hash: { chainId: row.chainId, hash: row.hash } },
    });
    return stored?.legId === row.legId && stored.actionId === row.actionId;
  },
});

interface Retry {
  readonly projectId: string;
  readonly of: string;
  readonly by: string;
  readonly now: Date;
}

/**
 * Records that one operation retries another. Of several concurrent retries only the first
 * succeeds.
 */
export const claimRetry = async (
  db: Sql,
  { projectId, of, by, now }: Retry,
): Promise<boolean> => {
  const claimed = await db.change(sql`
    UPDATE operation SET
      retried_by = ${by},
      version = version + 1,
      updated_at = ${now}::timestamptz
    WHERE project_id = ${projectId} AND id = ${of} AND retried_by IS NULL`);
  return claimed === 1;
};

/**
 * Deletes the retry claim of an operation that sent nothing, so that another operation can retry
 * the failed one again.
 */
export const freeRetry = async (
  tx: Tx,
  { projectId, id }: OperationKey,
  now: Date,
): Promise<void> => {
  await tx.operation.updateMany({
    where: { projectId, retriedBy: id },
    data: { retriedBy: null, version: { increment: 1 }, updatedAt: now },
  });
};

// Accepts operations. The quote, holds, legs and job of an operation are written in one
// transaction.

export type Enforce = (
  sql: Sql,
  operation: { readonly id: string; readonly digest: Uint8Array },
) => Promise<Passed>;

export type NewOperationRow = Omit<RowOf<typeof newOperations>, "evaluationId">;

export interface NewOperation {
  readonly operation: NewOperationRow;
  /**
   * True when the operation is stored already and awaits approval. Accepting it then updates its
   * row.
   */
  readonly awaited: boolean;
  readonly transferId: string | null;
  readonly legs: readonly Leg[];
  readonly holds: readonly Hold[];
  readonly costs: readonly GasCost[];
  readonly sentByWallets: readonly SentByWallet[];
  readonly audit: AuditEntry;
}

const QUEUE = "operation";

/**
 * Marks the source of an operation, such as its quote, as used, in the transaction that accepts
 * the operation. `take` returns false when the source was used before. Claims with `by: "prisma"`
 * get Prisma's transaction, because Prisma writes the rows of their source.
 */
export type Claim =
  | { readonly by: "sql"; take(sql: Sql, operationId: string, now: Date): Promise<boolean> }
  | { readonly by: "prisma"; take(tx: Tx, operationId: string, now: Date): Promise<boolean> };

interface Acceptance {
  readonly funds: readonly Funds[];
  readonly backing: Backing | null;
  readonly claim: Claim;
  readonly enforce: Enforce;
  readonly now: Date;
}

type Sponsorship = Pick<SponsorshipService, "reserve">;

export const insertOperation = async (
  db: Sql,
  operation: NewOperationRow,
  evaluationId: string | null,
): Promise<void> => {
  await db.change(sql`
    INSERT INTO operation (${newOperations.names})
    SELECT ${newOperations.names}
    FROM ${newOperations.list([{ ...operation, evaluationId }])} AS accepted`);
};

/**
 * Moves an operation from awaiting approval to prepared, and stores the amounts quoted at approval.
 * Returns false when the operation was cancelled, approved or expired meanwhile.
 */
const leaveApproval = async (
  db: Sql,
  { id, projectId, subStatus, quoted, acceptedAt }: NewOperationRow,
  now: Date,
): Promise<boolean> => {
  const left = await db.change(sql`
    UPDATE operation SET
      sub_status = ${subStatus},
      quoted = ${storedText(quoted)}::jsonb,
      accepted_at = ${acceptedAt}::timestamptz,
      expires_at = NULL,
      version = version + 1,
      updated_at = ${now}::timestamptz
    WHERE project_id = ${projectId}
      AND id = ${id}
      AND status = 'pending'
      AND sub_status = 'awaiting_approval'
      AND expires_at > ${now}::timestamptz`);
  return left === 1;
};

const recordAcceptance = async (
  db: Sql,
  { operation, awaited, transferId }: NewOperation,
  now: Date,
): Promise<void> => {
  const { id, projectId, status, subStatus, createdBy } = operation;
  const type = awaited ? "operation.approved" : "operation.created";
  const data = { status, subStatus, ...(awaited ? { by: createdBy } : {}) };
  const transfer = isPrivateKind(operation.kind)
    ? { quotedId: null, privateId: transferId }
    : { quotedId: transferId, privateId: null };
  announceEvents(db, id);
  await inOrder(db, [
    () =>
      db.change(sql`
        INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
        SELECT
          ${projectId},
          ${id},
          coalesce(max(seq), 0) + 1,
          ${type},
          ${JSON.stringify(data)}::jsonb,
          ${now}::timestamptz
        FROM operation_event
        WHERE project_id = ${projectId} AND operation_id = ${id}`),
    () =>
      recordEventsOn(
        db,
        projectEventsOf({ ...operation, failure: null, ...transfer }, { type, now }),
      ),
  ]);
};

const store = async (
  db: Sql,
  input: NewOperation,
  { passed, now, owner }: { passed: Passed; now: Date; owner: JobOwner | null },
): Promise<void> => {
  const { operation, legs, holds, awaited, audit } = input;
  const { id: operationId, projectId } = operation;
  const { evaluationId } = passed;
  await inOrder(db, [
    () => passed.store(db),
    () =>
      awaited
        ? db.change(sql`
            UPDATE operation SET evaluation_id = ${evaluationId}
            WHERE project_id = ${projectId} AND id = ${operationId}`)
        : insertOperation(db, operation, evaluationId),
    () => insertLegs(db, legs),
    () => insertHolds(db, { operationId, projectId, holds, now }),
    () => recordAcceptance(db, input, now),
    () => recordAuditOn(db, audit),
    () => insertJobOn(db, { id: operationId, queue: QUEUE, runAt: now }, owner),
  ]);
};

/**
 * Accepts an operation in the transaction of `db`. Every transaction locks in this order, to avoid
 * deadlocks: source, caps of keys, caps of policies, balances, accounts, sponsor budget.
 * @param take marks the source as used
 * @returns the id of the policy evaluation
 * @throws UsedMeanwhileError when the source was used already, or the operation no longer awaits
 * approval
 */
const acceptIn = async (
  db: Sql,
  sponsorship: Sponsorship,
  input: NewOperation,
  {
    take,
    enforce,
    funds,
    backing,
    now,
    owner,
  }: Omit<Acceptance, "claim"> & { take(): Promise<boolean>; owner: JobOwner | null },
): Promise<string> => {
  const { operation, legs, holds } = input;
  const { id, projectId, kind } = operation;
  if (!(await take())) throw new UsedMeanwhileError();
  if (input.awaited && !(await leaveApproval(db, operation, now)))
    throw new UsedMeanwhileError();
  const digest = parametersDigest(operation, legs);
  const passed = await enforce(db, { id, digest });
  await backing?.lock(db, funds);
  await requireFunds(db, { holds, funds, now });
  await store(db, input, { passed, now, owner });
  await claimTransactions(db, input.sentByWallets);
  await backing?.check(db);
  // The sponsor's budget is reserved last, because its lock makes all operations of the project
  // wait for each other until COMMIT.
  await sponsorship.reserve(db, { projectId, kind, costs: input.costs }, now);
  return passed.evaluationId;
};

export const createAccepting = (
  database: Database,
  sponsorship: Sponsorship,
  handover: Pick<Handover, "take"> = { take: () => null },
) => {
  const inTransaction = (
    input: NewOperation,
    { claim, ...how }: Acceptance,
    owner: JobOwner | null,
  ): Promise<string> => {
    const { id } = input.operation;
    return claim.by === "sql"
      ? database.rawTransaction((db) => {
          const take = () => claim.take(db, id, how.now);
          return acceptIn(db, sponsorship, input, { ...how, take, owner });
        }, keptSqlOn)
      : database.transaction((tx) => {
          const take = () => claim.take(tx, id, how.now);
          return acceptIn(sqlOf(tx), sponsorship, input, { ...how, take, owner });
        });
  };
  return {
    /**
     * Accepts an operation, in one transaction with the quote or request that it uses up.
     * @returns the id of the policy evaluation; null when the source was used already or the
     * operation no longer awaits approval. Nothing is stored then
     * @throws FundsMovedError when a balance has to be read again; DomainError
     * `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`,
     * `invalid_signature` for a wallet's transaction that belongs to another leg
     */
    accept: async (input: NewOperation, acceptance: Acceptance): Promise<string | null> => {
      const { id } = input.operation;
      const owner = handover.take();
      try {
        const evaluationId = await inTransaction(input, acceptance, owner);
        owner?.run({ id, queue: QUEUE, traceparent: currentTraceparent(), failures: 0 });
        return evaluationId;
      } catch (error) {
        // This instance gives up the job. The job may be stored nevertheless, because the response
        // to COMMIT may have been lost. A worker then claims the job after its lease ends.
        owner?.leave();
        if (error instanceof UsedMeanwhileError) return null;
        throw error;
      }
    },
  };
};

import { DomainError } from "@/lib/core/errors";
import type { Database, Tx } from "@/lib/platform/db/client";
import { keptSqlOn, type Sql, sqlOf } from "@/lib/platform/db/sql";
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
import { DEPOSIT_KIND, type Operation } from "./operation";
import { isPrivateKind } from "@/lib/core/movement-kinds";
import { columnOf, insertLegs } from "./row-repository";
import { UsedMeanwhileError } from "./errors";
import type { Status, SubStatus } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/core/evm";
import { searchTermsOf } from "./search";

/** A transaction that a linked wallet sent for an action of a leg. */
export interface SentByWallet {
  readonly chainId: number;
  readonly hash: string;
  readonly actionId: string;
  readonly legId: string;
}

const SENT = `jsonb_to_recordset($1::jsonb) AS sent ("chainId" int, hash text, "legId" text, "actionId" text)`;
const INSERT_SENT = `
  INSERT INTO wallet_transaction (chain_id, hash, leg_id, action_id)
  SELECT "chainId", hash, "legId", "actionId" FROM ${SENT} ORDER BY 1, 2 ON CONFLICT DO NOTHING`;
const READ_SENT = `
  SELECT t.chain_id AS "chainId", t.hash, t.leg_id AS "legId", t.action_id AS "actionId"
  FROM ${SENT} JOIN wallet_transaction t ON t.chain_id = sent."chainId" AND t.hash = sent.hash`;

/**
 * Assigns the transactions to these legs, inside the transaction that accepts their operation.
 * @throws DomainError `invalid_signature`, naming every action whose transaction belongs to another
 * leg
 */
const claimTransactions = async (sql: Sql, sent: readonly SentByWallet[]): Promise<void> => {
  if (sent.length === 0) return;
  const rows = sent.map((each) => ({ ...each, hash: each.hash.toLowerCase() }));
  const values = [JSON.stringify(rows)];
  await sql.change(INSERT_SENT, values);
  const stored = await sql.query<SentByWallet>(READ_SENT, values);
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
  /** Assigns a replacement transaction to its leg. False when it belongs to another leg. */
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

const CLAIM = `
  UPDATE operation SET retried_by = $3, version = version + 1, updated_at = $4::timestamptz
  WHERE project_id = $1 AND id = $2 AND retried_by IS NULL`;

/**
 * Records that this operation retries the earlier one. Of several concurrent retries only the first
 * succeeds.
 */
export const claimRetry = async (sql: Sql, { projectId, of, by, now }: Retry): Promise<boolean> =>
  (await sql.change(CLAIM, [projectId, of, by, now.toISOString()])) === 1;

/**
 * Deletes the retry claim of an operation that sent nothing, so that another operation can retry
 * the same one.
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

// Accepts operations: an operation's quote, holds, legs and job change in one transaction.

/** Evaluates the project's policies for an operation with these parameters. */
export type Enforce = (
  sql: Sql,
  operation: { readonly id: string; readonly digest: Uint8Array },
) => Promise<Passed>;

/** The columns of an operation when it is first inserted. */
export interface NewOperationRow extends Omit<
  Operation,
  "legs" | "failure" | "retriedBy" | "gasWaits" | "evaluationId"
> {
  /** The lower-case terms by which the activity list finds the operation. */
  readonly searchTerms: readonly string[];
}

export interface NewOperation {
  readonly operation: NewOperationRow;
  /**
   * True when the operation is stored already and awaits approval. Its row is then updated instead
   * of inserted.
   */
  readonly awaited: boolean;
  /** The quoted or private transfer that it carries out, if any. */
  readonly transferId: string | null;
  readonly legs: readonly Leg[];
  readonly holds: readonly Hold[];
  /** The most that the project's sponsor pays for each leg. */
  readonly costs: readonly GasCost[];
  readonly sentByWallets: readonly SentByWallet[];
  readonly audit: AuditEntry;
}

const QUEUE = "operation";

/**
 * Marks the source of an operation, such as its quote, as used, in the transaction that accepts the
 * operation. `take` returns false when the source was used before. A claim whose rows Prisma writes
 * receives the Prisma transaction.
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

const OPERATION_COLUMNS = `id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, retry_of,
  accepted_at, created_at, updated_at, expires_at, evaluation_id`;
const INSERT_OPERATION = `
  INSERT INTO operation (${OPERATION_COLUMNS})
  SELECT ${OPERATION_COLUMNS} FROM jsonb_populate_record(NULL::operation, $1::jsonb)`;

/**
 * Inserts only the operation's row; the caller inserts its legs and holds in the same transaction.
 */
export const insertOperation = async (
  sql: Sql,
  operation: NewOperationRow,
  evaluationId: string | null,
): Promise<void> => {
  const columns = Object.entries({ ...operation, evaluationId }).map(([field, value]) => [
    columnOf(field),
    value as unknown,
  ]);
  await sql.change(INSERT_OPERATION, [storedText(Object.fromEntries(columns))]);
};

const LEAVE_APPROVAL = `
  UPDATE operation SET sub_status = $3, quoted = $4::jsonb, accepted_at = $5::timestamptz, expires_at = NULL,
    version = version + 1, updated_at = $6::timestamptz
  WHERE project_id = $1 AND id = $2 AND status = 'pending' AND sub_status = 'awaiting_approval'
    AND expires_at > $6::timestamptz`;

/**
 * Moves an operation from awaiting approval to prepared, and stores the amounts that were quoted at
 * approval. Returns false when it was cancelled, approved or expired in the meantime.
 */
const leaveApproval = async (
  sql: Sql,
  { id, projectId, subStatus, quoted, acceptedAt }: NewOperationRow,
  now: Date,
): Promise<boolean> => {
  const values = [storedText(quoted), acceptedAt?.toISOString() ?? null, now.toISOString()];
  return (await sql.change(LEAVE_APPROVAL, [projectId, id, subStatus, ...values])) === 1;
};

const NOTE_EVALUATION = "UPDATE operation SET evaluation_id = $3 WHERE project_id = $1 AND id = $2";

const INSERT_EVENT = `
  INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
  SELECT $1, $2, coalesce(max(seq), 0) + 1, $3, $4::jsonb, $5::timestamptz
  FROM operation_event WHERE project_id = $1 AND operation_id = $2`;

/** Stores the acceptance as an event of the operation and as an event of the project. */
const recordAcceptance = async (
  sql: Sql,
  { operation, awaited, transferId }: NewOperation,
  now: Date,
): Promise<void> => {
  const { id, projectId, status, subStatus, createdBy } = operation;
  const type = awaited ? "operation.approved" : "operation.created";
  const data = { status, subStatus, ...(awaited ? { by: createdBy } : {}) };
  const transfer = isPrivateKind(operation.kind)
    ? { quotedId: null, privateId: transferId }
    : { quotedId: transferId, privateId: null };
  announceEvents(sql, id);
  await inOrder(sql, [
    () => sql.change(INSERT_EVENT, [projectId, id, type, JSON.stringify(data), now.toISOString()]),
    () =>
      recordEventsOn(
        sql,
        projectEventsOf({ ...operation, failure: null, ...transfer }, { type, now }),
      ),
  ]);
};

/** Stores all rows of an accepted operation. */
const store = async (
  sql: Sql,
  input: NewOperation,
  { passed, now, owner }: { passed: Passed; now: Date; owner: JobOwner | null },
): Promise<void> => {
  const { operation, legs, holds, awaited, audit } = input;
  const { id: operationId, projectId } = operation;
  const { evaluationId } = passed;
  await inOrder(sql, [
    () => passed.store(sql),
    () =>
      awaited
        ? sql.change(NOTE_EVALUATION, [projectId, operationId, evaluationId])
        : insertOperation(sql, operation, evaluationId),
    () => insertLegs(sql, legs),
    () => insertHolds(sql, { operationId, projectId, holds, now }),
    () => recordAcceptance(sql, input, now),
    () => recordAuditOn(sql, audit),
    () => insertJobOn(sql, { id: operationId, queue: QUEUE, runAt: now }, owner),
  ]);
};

/**
 * Accepts an operation in the transaction of `sql`. Every transaction takes its locks in this
 * order: the source, caps of keys, caps of policies, balances, accounts, the sponsor's budget.
 * @param take the claim of the source
 * @returns the id of the policy evaluation
 * @throws UsedMeanwhileError when the source was used already, or the operation no longer awaits
 * approval
 */
const acceptIn = async (
  sql: Sql,
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
  if (input.awaited && !(await leaveApproval(sql, operation, now))) throw new UsedMeanwhileError();
  const digest = parametersDigest(operation, legs);
  const passed = await enforce(sql, { id, digest });
  await backing?.lock(sql, funds);
  await requireFunds(sql, { holds, funds, now });
  await store(sql, input, { passed, now, owner });
  await claimTransactions(sql, input.sentByWallets);
  await backing?.check(sql);
  // The sponsor's budget is reserved last, because its lock makes all operations of the project
  // wait for each other until COMMIT.
  await sponsorship.reserve(sql, { projectId, kind, costs: input.costs }, now);
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
      ? database.rawTransaction((sql) => {
          const take = () => claim.take(sql, id, how.now);
          return acceptIn(sql, sponsorship, input, { ...how, take, owner });
        }, keptSqlOn)
      : database.transaction((tx) => {
          const take = () => claim.take(tx, id, how.now);
          return acceptIn(sqlOf(tx), sponsorship, input, { ...how, take, owner });
        });
  };
  return {
    /**
     * Accepts an operation, in one transaction with the quote or request that it uses up. Nothing
     * is stored when `claim` finds that the source was used, or when an operation no longer awaits
     * approval.
     * @returns the id of the policy evaluation; null when nothing was stored
     * @throws FundsMovedError when a balance has to be read again; DomainError
     * `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`,
     * `invalid_signature` for a wallet's transaction that another operation named
     */
    accept: async (input: NewOperation, acceptance: Acceptance): Promise<string | null> => {
      const { id } = input.operation;
      const owner = handover.take();
      try {
        const evaluationId = await inTransaction(input, acceptance, owner);
        owner?.run({ id, queue: QUEUE, traceparent: currentTraceparent(), failures: 0 });
        return evaluationId;
      } catch (error) {
        // When the answer to COMMIT was lost, the job may be stored. A worker then claims it after
        // its lease ends.
        owner?.leave();
        if (error instanceof UsedMeanwhileError) return null;
        throw error;
      }
    },
  };
};

// Operations of kind `deposit`: money that came from outside. They have no legs and no job; the
// module `deposits` changes their state.

interface DepositOperationState {
  readonly projectId: string;
  readonly id: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  /** Type of the event in the operation's event list. */
  readonly event: string;
}

interface NewDepositOperation extends DepositOperationState {
  readonly wallet: { readonly id: string; readonly address: EvmAddress };
  /** Null when the sender is unknown. */
  readonly sender: EvmAddress | null;
  readonly token: Token;
  readonly amountBase: bigint;
  readonly txHash: string | null;
}

interface DepositMove extends DepositOperationState {
  readonly failure: { readonly code: string; readonly message: string } | null;
}

// A deposit that a reorganisation removed and that is mined again keeps its operation. This
// statement replaces its fields by those of the new log.
const REVIVE = `
  UPDATE operation o SET status = n.status, sub_status = n.sub_status, failure = NULL, request = n.request, quoted = n.quoted,
    minimum_base = n.minimum_base, search_terms = n.search_terms, version = o.version + 1, updated_at = n.updated_at
  FROM jsonb_populate_recordset(NULL::operation, $1::jsonb) AS n
  WHERE o.project_id = $2 AND o.id = n.id`;

const INSERT = `
  INSERT INTO operation (${OPERATION_COLUMNS})
  SELECT ${OPERATION_COLUMNS} FROM jsonb_populate_recordset(NULL::operation, $1::jsonb)
  ON CONFLICT DO NOTHING`;

const MOVE = `
  UPDATE operation o SET status = m.status, sub_status = m.sub_status, failure = m.failure, version = o.version + 1,
    updated_at = $2::timestamptz
  FROM jsonb_to_recordset($1::jsonb) AS m (id text, status text, sub_status text, failure jsonb)
  WHERE o.project_id = $3 AND o.id = m.id`;

const EVENTS = `
  INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
  SELECT $3, n.id, coalesce((SELECT max(e.seq) FROM operation_event e WHERE e.project_id = $3 AND e.operation_id = n.id), 0) + 1,
    n.type, n.data, $2::timestamptz
  FROM jsonb_to_recordset($1::jsonb) AS n (id text, type text, data jsonb)`;

/** Groups rows by project, because each statement writes the rows of one project. */
const byProject = <Row extends { readonly projectId: string }>(
  rows: readonly Row[],
): [string, Row[]][] =>
  [...new Set(rows.map(({ projectId }) => projectId))].map((projectId) => [
    projectId,
    rows.filter((row) => row.projectId === projectId),
  ]);

const noteEvents = async (
  sql: Sql,
  projectId: string,
  states: readonly DepositOperationState[],
  now: Date,
): Promise<void> => {
  const rows = states.map(({ id, status, subStatus, event }) => ({
    id,
    type: event,
    data: { status, subStatus },
  }));
  await sql.change(EVENTS, [JSON.stringify(rows), now, projectId]);
  for (const { id } of states) announceEvents(sql, id);
};

const rowOf = (deposit: NewDepositOperation, now: Date): object => {
  const { id, projectId, status, subStatus, wallet, sender, token, amountBase, txHash } = deposit;
  const request = {
    sources: sender === null ? [] : [{ owner: sender, token, amountBase }],
    destination: { token, recipient: wallet.address },
    slippageBps: 0,
  };
  const row = {
    ...{ id, projectId, status, subStatus, request, createdBy: DEPOSIT_KIND, kind: DEPOSIT_KIND },
    quoted: { expectedBase: amountBase, receivedBase: amountBase },
    minimumBase: amountBase,
    searchTerms: searchTermsOf(request, [wallet], [txHash]),
    ...{ acceptedAt: now, createdAt: now, updatedAt: now },
  };
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => [columnOf(field), value as unknown]),
  );
};

/**
 * Stores the operations of deposits with their first events. The caller's transaction holds the
 * locks of the deposits' rows.
 */
export const storeDepositOperations = async (
  sql: Sql,
  deposits: readonly NewDepositOperation[],
  now: Date,
): Promise<void> => {
  for (const [projectId, own] of byProject(deposits)) {
    const rows = storedText(own.map((deposit) => rowOf(deposit, now)));
    await sql.change(REVIVE, [rows, projectId]);
    await sql.change(INSERT, [rows]);
    await noteEvents(sql, projectId, own, now);
  }
};

/**
 * Sets the states of the operations of deposits. The caller has changed the deposits' rows by
 * compare-and-set in the same transaction.
 */
export const moveDepositOperations = async (
  sql: Sql,
  moves: readonly DepositMove[],
  now: Date,
): Promise<void> => {
  for (const [projectId, own] of byProject(moves)) {
    const rows = own.map(({ id, status, subStatus, failure }) => ({
      id,
      status,
      sub_status: subStatus,
      failure,
    }));
    await sql.change(MOVE, [JSON.stringify(rows), now, projectId]);
    await noteEvents(sql, projectId, own, now);
  }
};

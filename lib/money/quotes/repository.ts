import type { CreatedBetween } from "@/lib/platform/db/list-filters";
import { keptSqlOn, type Sql, sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { join, sql, type Statement } from "@/lib/platform/db/statement";
import { table, text } from "@/lib/platform/db/table";
import type { IdempotentRequest } from "@/lib/platform/db/idempotency-keys";
import { type Actor, actorName } from "@/lib/core/actor";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Database, Tx } from "@/lib/platform/db/client";
import type { Quote as QuoteRow } from "@/lib/platform/db/generated/client";
import { type AuditEntry, doneBy, recordAudit } from "@/lib/news/audit/service";
import { recordEvents } from "@/lib/news/events/service";
import { storedText, toStored } from "@/lib/platform/db/codecs";
import { parseListedQuote, parseQuote, type PreparedLeg, type Quote } from "./quote";
import type { QuoteRecord } from "./serializer";

export interface TransferFilter extends CreatedBetween {
  readonly status?: readonly string[] | undefined;
  /** Matches transfers whose source or destination is on any of these chains. */
  readonly chainId?: readonly number[] | undefined;
  readonly walletId?: readonly string[] | undefined;
}

interface TransferPage extends TransferFilter {
  readonly projectId: string;
  /** Only transfers with a smaller id, which are older. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * SQL: the status of the transfer of quote `q`, as `toTransfer` shows it. After the execution it is
 * the status of the operation `o`.
 */
const statusAt = (now: Date): Statement => sql`
  CASE
    WHEN o.id IS NOT NULL THEN o.status
    WHEN q.status = 'cancelled' THEN 'cancelled'
    WHEN q.status = 'prepared' AND q.prepared_until > ${now}::timestamptz THEN 'pending'
    WHEN q.expires_at <= ${now}::timestamptz THEN 'expired'
    ELSE 'pending'
  END`;

const isOnChain = (chainIds: readonly string[]): Statement => sql`
  (
    q.response #>> '{from,0,chainId}' = ANY (${chainIds}::text[])
    OR q.response #>> '{to,chainId}' = ANY (${chainIds}::text[])
  )`;

const quoteIds = table({ id: text });

/** Ids of the quotes of a page, the newest transfer first. */
const transferQuoteIds = async (
  db: SqlReader,
  { projectId, before, limit, status, chainId, walletId, from, to }: TransferPage,
  now: Date,
): Promise<string[]> => {
  const conditions = [
    sql`q.project_id = ${projectId}`,
    sql`q.transfer_id IS NOT NULL`,
    ...(before === undefined ? [] : [sql`q.transfer_id < ${before}`]),
    ...(status === undefined ? [] : [sql`${statusAt(now)} = ANY (${status}::text[])`]),
    ...(chainId === undefined ? [] : [isOnChain(chainId.map(String))]),
    ...(walletId === undefined
      ? []
      : [sql`q.response #>> '{from,0,walletId}' = ANY (${walletId}::text[])`]),
    ...(from === undefined ? [] : [sql`q.created_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`q.created_at < ${to}::timestamptz`]),
  ];
  const rows = await quoteIds.all(
    db,
    sql`
      SELECT ${quoteIds.columns("q")} FROM quote q
      LEFT JOIN operation o ON o.project_id = q.project_id AND o.id = q.operation_id
      WHERE ${join(conditions, " AND ")}
      ORDER BY q.transfer_id DESC
      LIMIT ${limit}::int`,
  );
  return rows.map(({ id }) => id);
};

/** The scope in which an Idempotency-Key is unique: one caller and one kind of quote. */
interface KeyUse {
  readonly projectId: string;
  readonly kind: string;
  readonly createdBy: string;
  readonly idempotencyKey: string;
}

export interface Subject {
  readonly quoteId?: string | undefined;
  readonly transferId?: string | undefined;
}

export interface NewQuote extends Pick<
  Quote,
  | "id"
  | "projectId"
  | "kind"
  | "transferId"
  | "retryOf"
  | "createdBy"
  | "request"
  | "route"
  | "minimumBase"
  | "digest"
  | "createdAt"
  | "expiresAt"
> {
  readonly response: QuoteRecord;
  readonly idempotency: IdempotentRequest | null;
}

interface Preparation extends Pick<Quote, "route" | "balanceChanges"> {
  readonly response: QuoteRecord;
  readonly preparedLegs: readonly PreparedLeg[];
  readonly preparedUntil: Date;
}

interface PreparedClaim {
  readonly projectId: string;
  readonly id: string;
  readonly operationId: string;
  readonly preparedUntil: Date;
  /**
   * The current time, which must be before the end of the price lock. Null when the claim may
   * succeed even after the price lock has ended.
   */
  readonly now: Date | null;
}

/** Marks a quote as used, inside the transaction that accepts its operation. */
const quoteClaims = {
  /**
   * Marks a prepared quote as used. Returns false when the quote was used already, or was prepared
   * again since the caller read it.
   */
  claim: async (
    db: Sql,
    { projectId, id, operationId, preparedUntil, now }: PreparedClaim,
  ): Promise<boolean> => {
    const claimed = await db.change(sql`
      UPDATE quote SET
        status = 'used',
        operation_id = ${operationId}
      WHERE project_id = ${projectId}
        AND id = ${id}
        AND status = 'prepared'
        AND prepared_until = ${preparedUntil}::timestamptz
        AND (${now}::timestamptz IS NULL OR prepared_until > ${now}::timestamptz)`);
    return claimed === 1;
  },

  /**
   * Stores a quote that no caller has seen, marked as used by an operation. Waits for the
   * transaction of another call with the same Idempotency-Key, and returns false when that call
   * committed first.
   */
  insertUsed: (db: Sql, quote: NewQuote, operationId: string): Promise<boolean> =>
    insertQuote(db, quote, operationId),

  /**
   * Marks an open quote that no caller has seen as used, and stores the call's Idempotency-Key with
   * it. Returns false when the quote or the key was used already, so that of several calls with one
   * key exactly one succeeds.
   */
  claimOpen: async (
    db: Sql,
    quote: Quote,
    operationId: string,
    idempotency: IdempotentRequest | null,
  ): Promise<boolean> => {
    if (idempotency !== null && (await isTaken(db, quote, idempotency.key))) return false;
    const claimed = await db.change(sql`
      UPDATE quote SET
        status = 'used',
        operation_id = ${operationId},
        idempotency_key = coalesce(${idempotency?.key ?? null}::text, idempotency_key),
        request_digest = coalesce(${idempotency?.digest ?? null}::bytea, request_digest)
      WHERE project_id = ${quote.projectId} AND id = ${quote.id} AND status = 'open'`);
    return claimed === 1;
  },
};

export const createQuotesRepository = (database: Database) => ({
  /**
   * Stores a quote. Returns null when the Idempotency-Key belongs to another quote. `audit` and
   * the event of a transfer are written in the same transaction.
   */
  insert: async (quote: NewQuote, audit: AuditEntry | null): Promise<Quote | null> => {
    if (audit === null && quote.transferId === null)
      return (await insertQuote(keptSqlOn(database.pool), quote)) ? storedQuote(quote) : null;
    return database.transaction(async (tx) => {
      if (!(await insertQuote(sqlOf(tx), quote))) return null;
      const stored = storedQuote(quote);
      if (audit !== null) await recordAudit(tx, audit);
      await recordTransferEvent(tx, stored, { type: "transfer.created", at: stored.createdAt });
      return stored;
    });
  },

  find: async (projectId: string, { quoteId, transferId }: Subject): Promise<Quote | null> => {
    if (quoteId === undefined && transferId === undefined) return null;
    const where = {
      projectId,
      ...(quoteId === undefined ? {} : { id: quoteId }),
      ...(transferId === undefined ? {} : { transferId }),
    };
    return parsed(await database.prisma.quote.findFirst({ where }));
  },

  findByKey: async (used: KeyUse): Promise<Quote | null> =>
    parsed(
      await database.prisma.quote.findUnique({
        where: { projectId_kind_createdBy_idempotencyKey: used },
      }),
    ),

  findByOperation: async (projectId: string, operationId: string): Promise<Quote | null> =>
    parsed(await database.prisma.quote.findFirst({ where: { projectId, operationId } })),

  /** Transfers, newest first. `now` decides which of them have expired. */
  listTransfers: async (page: TransferPage, now: Date): Promise<Quote[]> => {
    const ids = await transferQuoteIds(sqlOf(database.prisma), page, now);
    const where = { projectId: page.projectId, id: { in: ids } };
    const rows = await database.prisma.quote.findMany({
      where,
      orderBy: { transferId: "desc" },
    });
    return rows.map(parseListedQuote);
  },

  /** Records when the first code for the quote was sent. Later calls change nothing. */
  codeSent: async (
    { projectId, id }: Pick<Quote, "projectId" | "id">,
    now: Date,
  ): Promise<void> => {
    await database.prisma.quote.updateMany({
      where: { projectId, id, codeSentAt: null },
      data: { codeSentAt: now },
    });
  },

  approve: bindDeps(database, approve),

  /**
   * Stores a preparation of the quote. Returns false when the quote was used, or prepared by
   * another call, since the caller read it (`read`).
   */
  markPrepared: async (
    read: Pick<Quote, "projectId" | "id" | "preparedUntil">,
    { route, response, preparedLegs, balanceChanges, preparedUntil }: Preparation,
  ): Promise<boolean> => {
    const { count } = await database.prisma.quote.updateMany({
      where: {
        projectId: read.projectId,
        id: read.id,
        status: { in: ["open", "prepared"] },
        preparedUntil: read.preparedUntil,
      },
      data: {
        route: toStored(route),
        response: toStored(response),
        prepared: toStored({ legs: preparedLegs, balanceChanges }),
        preparedUntil,
        status: "prepared",
      },
    });
    return count === 1;
  },

  /**
   * Cancels a quote. Returns false when the quote was used, cancelled or prepared since the caller
   * read it (`read`). `audit` is written in the same transaction.
   */
  cancel: (
    read: Pick<Quote, "projectId" | "id" | "preparedUntil">,
    audit: AuditEntry,
  ): Promise<boolean> =>
    database.transaction(async (tx) => {
      const { count } = await tx.quote.updateMany({
        where: {
          projectId: read.projectId,
          id: read.id,
          status: { in: ["open", "prepared"] },
          preparedUntil: read.preparedUntil,
        },
        data: { status: "cancelled" },
      });
      if (count === 0) return false;
      await recordAudit(tx, audit);
      const row = await tx.quote.findFirstOrThrow({
        where: { projectId: read.projectId, id: read.id },
      });
      await recordTransferEvent(tx, row, { type: "transfer.cancelled", at: audit.at });
      return true;
    }),

  ...quoteClaims,
});

const approve = (
  database: Database,
  quote: Quote,
  approval: { actor: Actor; codeId: string; means: string; now: Date },
): Promise<void> =>
  database.transaction(async (tx) => {
    const { actor, codeId, means, now } = approval;
    const { count } = await tx.quote.updateMany({
      where: { projectId: quote.projectId, id: quote.id, approvedAt: null },
      data: {
        approvedAt: now,
        approvedBy: actorName(actor),
        approvalCodeId: codeId,
        approvalMeans: means,
      },
    });
    if (count === 0) return;
    const action = quote.transferId === null ? "quote.approved" : "transfer.approved";
    const subject = quote.transferId ?? quote.id;
    await recordAudit(tx, {
      ...doneBy(actor),
      action,
      subject,
      data: { means, codeId },
      at: now,
    });
    await recordTransferEvent(tx, quote, { type: "transfer.approved", at: now });
  });

/**
 * Records an event of a transfer that has no operation yet. The operation records the later events.
 * A transfer that is not executed in time expires at `expiresAt` without an event.
 */
const recordTransferEvent = async (
  tx: Tx,
  {
    projectId,
    transferId,
    kind,
    expiresAt,
  }: Pick<Quote, "projectId" | "transferId" | "kind" | "expiresAt">,
  {
    type,
    at,
  }: { type: "transfer.created" | "transfer.approved" | "transfer.cancelled"; at: Date },
): Promise<void> => {
  if (transferId === null) return;
  const status = type === "transfer.cancelled" ? "cancelled" : "pending";
  const data = {
    operationId: null,
    transferId,
    kind,
    status,
    expiresAt: expiresAt.toISOString(),
  };
  await recordEvents(tx, [{ projectId, type, objectId: transferId, data, at }]);
};

const parsed = (row: QuoteRow | null): Quote | null => (row === null ? null : parseQuote(row));

/**
 * Inserts a quote. Returns false when the Idempotency-Key belongs to another quote. Uses SQL with
 * a constant text, because this insert runs for every quote of an API key, and Prisma's overhead
 * exceeds the insert itself.
 */
const insertQuote = async (
  db: Sql,
  { idempotency, ...quote }: NewQuote,
  operationId: string | null = null,
): Promise<boolean> => {
  const inserted = await db.change(sql`
    INSERT INTO quote (
      id, project_id, kind, transfer_id, retry_of, created_by, request, route, response,
      minimum_base, digest, created_at, expires_at, idempotency_key, request_digest, status,
      operation_id
    )
    VALUES (
      ${quote.id},
      ${quote.projectId},
      ${quote.kind},
      ${quote.transferId},
      ${quote.retryOf},
      ${quote.createdBy},
      ${storedText(quote.request)}::jsonb,
      ${storedText(quote.route)}::jsonb,
      ${storedText(quote.response)}::jsonb,
      ${quote.minimumBase}::numeric,
      ${quote.digest}::bytea,
      ${quote.createdAt}::timestamptz,
      ${quote.expiresAt}::timestamptz,
      ${idempotency?.key ?? null},
      ${idempotency?.digest ?? null}::bytea,
      ${operationId === null ? "open" : "used"},
      ${operationId}
    )
    ON CONFLICT DO NOTHING`);
  return inserted === 1;
};

/** Returns a new quote in the form in which a later read returns it. */
export const storedQuote = ({ idempotency, ...quote }: NewQuote): Quote => {
  const unused = {
    codeSentAt: null,
    approvedAt: null,
    approvedBy: null,
    approvalCodeId: null,
    approvalMeans: null,
  };
  const unprepared = { preparedUntil: null, prepared: null, operationId: null };
  return parseQuote({
    ...quote,
    ...unused,
    ...unprepared,
    status: "open",
    request: toStored(quote.request),
    route: toStored(quote.route),
    response: toStored(quote.response),
    minimumBase: quote.minimumBase.toString(),
    requestDigest: idempotency?.digest ?? null,
  });
};

/**
 * Whether the Idempotency-Key was used already. Calls with the same key run one after another: a
 * second call waits until the transaction of the first call has ended.
 */
const isTaken = async (
  db: Sql,
  { projectId, kind, createdBy }: Quote,
  idempotencyKey: string,
): Promise<boolean> => {
  const name = `quote:${projectId}:${kind}:${createdBy}:${idempotencyKey}`;
  await db.change(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
  const rows = await db.query(sql`
    SELECT 1 FROM quote
    WHERE project_id = ${projectId}
      AND kind = ${kind}
      AND created_by = ${createdBy}
      AND idempotency_key = ${idempotencyKey}`);
  return rows.length > 0;
};

export type QuotesRepository = ReturnType<typeof createQuotesRepository>;

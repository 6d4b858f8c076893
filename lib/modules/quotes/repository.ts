import { actorName, type Actor } from "@/lib/core/actor";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Database, Tx } from "@/lib/db/client";
import type { Quote as QuoteRow } from "@/lib/db/generated/client";
import { keptSqlOn, sqlOf, type Sql } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";
import { doneBy, recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { recordEvents } from "@/lib/modules/events/service";
import { storedText, toStored } from "@/lib/ports/routing-json";
import type { PreparedLeg } from "./prepared-leg";
import { parseListedQuote, parseQuote, type Quote } from "./quote";
import type { QuoteRecord } from "./serializer";

/** The Idempotency-Key of a call, and SHA-256 of its request. */
export interface IdempotencyUse {
  readonly key: string;
  readonly digest: Uint8Array<ArrayBuffer>;
}

/** The scope in which an Idempotency-Key is unique: one caller and one kind of quote. */
export interface KeyUse {
  readonly projectId: string;
  readonly kind: string;
  readonly createdBy: string;
  readonly idempotencyKey: string;
}

/** Names a quote by its own id, or by its transfer id. */
export interface Subject {
  readonly quoteId?: string | undefined;
  readonly transferId?: string | undefined;
}

/** A new quote: open, with all data that its caller was shown. */
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
  readonly idempotency: IdempotencyUse | null;
}

/** The result of preparing a quote. */
export interface Preparation extends Pick<Quote, "route"> {
  readonly response: QuoteRecord;
  readonly preparedLegs: readonly PreparedLeg[];
  readonly preparedUntil: Date;
}

const CLAIM_OPEN = `
  UPDATE quote SET status = 'used', operation_id = $3, idempotency_key = coalesce($4::text, idempotency_key),
    request_digest = coalesce($5::bytea, request_digest)
  WHERE project_id = $1 AND id = $2 AND status = 'open'`;

const CLAIM_PREPARED = `
  UPDATE quote SET status = 'used', operation_id = $3
  WHERE project_id = $1 AND id = $2 AND status = 'prepared' AND prepared_until = $4::timestamptz
    AND ($5::timestamptz IS NULL OR prepared_until > $5)
  RETURNING id`;

interface PreparedClaim {
  readonly projectId: string;
  readonly id: string;
  readonly operationId: string;
  readonly preparedUntil: Date;
  readonly now: Date | null;
}

const claimPreparedPart = ({ projectId, id, operationId, preparedUntil, now }: PreparedClaim): StatementPart => ({
  text: CLAIM_PREPARED,
  values: [projectId, id, operationId, preparedUntil.toISOString(), now?.toISOString() ?? null],
});

/** Marks a quote as used, inside the transaction that accepts its operation. */
const quoteClaims = {
  /**
   * Marks the quote as used, inside the transaction that accepts its operation. False when it was used already, is not
   * prepared, or was prepared again since it was read. `now` null: succeeds even after the price lock.
   */
  claim: async (tx: Tx, claim: PreparedClaim): Promise<boolean> => {
    const { text, values } = claimPreparedPart(claim);
    return (await sqlOf(tx).query(text, values)).length === 1;
  },

  /** As `claim`, as a part of a statement; it returns a row where the quote is used now. */
  claimPart: claimPreparedPart,

  /**
   * Marks a quote as used without preparing it, for quotes that were not shown to anybody, together with the call's
   * Idempotency-Key. False when either was used already: of several calls with one key, exactly one gets true.
   */
  claimOpen: async (
    tx: Tx,
    quote: Quote,
    operationId: string,
    idempotency: IdempotencyUse | null,
  ): Promise<boolean> => {
    if (idempotency !== null && (await isTaken(tx, quote, idempotency.key))) return false;
    return (
      (await sqlOf(tx).change(CLAIM_OPEN, [
        quote.projectId,
        quote.id,
        operationId,
        idempotency?.key ?? null,
        idempotency?.digest ?? null,
      ])) === 1
    );
  },
};

export const createQuotesRepository = (database: Database) => ({
  /**
   * Null when its Idempotency-Key belongs to another quote. `audit`, and the event of a transfer, are written in the
   * same transaction.
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

  /** The quote stored for a caller's Idempotency-Key. */
  findByKey: async (used: KeyUse): Promise<Quote | null> =>
    parsed(await database.prisma.quote.findUnique({ where: { projectId_kind_createdBy_idempotencyKey: used } })),

  findByOperation: async (projectId: string, operationId: string): Promise<Quote | null> =>
    parsed(await database.prisma.quote.findFirst({ where: { projectId, operationId } })),

  /** Transfers, newest first, below the id `before`. */
  listTransfers: async (page: { projectId: string; before?: string | undefined; limit: number }): Promise<Quote[]> => {
    const rows = await database.prisma.quote.findMany({
      where: { projectId: page.projectId, transferId: page.before === undefined ? { not: null } : { lt: page.before } },
      orderBy: { transferId: "desc" },
      take: page.limit,
    });
    return rows.map(parseListedQuote);
  },

  /** Records that a code was sent for the quote. */
  codeSent: async ({ projectId, id }: Pick<Quote, "projectId" | "id">, now: Date): Promise<void> => {
    await database.prisma.quote.updateMany({ where: { projectId, id, codeSentAt: null }, data: { codeSentAt: now } });
  },

  approve: bindDeps(database, approve),

  /** False when the quote was used, or prepared by another call, since `read`. */
  markPrepared: async (
    read: Pick<Quote, "projectId" | "id" | "preparedUntil">,
    { route, response, preparedLegs, preparedUntil }: Preparation,
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
        prepared: toStored({ legs: preparedLegs }),
        preparedUntil,
        status: "prepared",
      },
    });
    return count === 1;
  },

  /** False when the quote was used, cancelled or prepared since `read`. `audit` is written in the same transaction. */
  cancel: (read: Pick<Quote, "projectId" | "id" | "preparedUntil">, audit: AuditEntry): Promise<boolean> =>
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
      const row = await tx.quote.findFirstOrThrow({ where: { projectId: read.projectId, id: read.id } });
      await recordTransferEvent(tx, row, { type: "transfer.cancelled", at: audit.at });
      return true;
    }),

  ...quoteClaims,
});

/** Records that the one-time code was right, and who gave it. */
const approve = (
  database: Database,
  quote: Quote,
  approval: { actor: Actor; codeId: string; means: string; now: Date },
): Promise<void> =>
  database.transaction(async (tx) => {
    const { actor, codeId, means, now } = approval;
    const { count } = await tx.quote.updateMany({
      where: { projectId: quote.projectId, id: quote.id, approvedAt: null },
      data: { approvedAt: now, approvedBy: actorName(actor), approvalCodeId: codeId, approvalMeans: means },
    });
    if (count === 0) return;
    const action = quote.transferId === null ? "quote.approved" : "transfer.approved";
    const subject = quote.transferId ?? quote.id;
    await recordAudit(tx, { ...doneBy(actor), action, subject, data: { means, codeId }, at: now });
    await recordTransferEvent(tx, quote, { type: "transfer.approved", at: now });
  });

/**
 * Records an event of a transfer without an operation; later its operation records them. A transfer that is not
 * executed in time expires by its `expiresAt`, without an event.
 */
const recordTransferEvent = async (
  tx: Tx,
  { projectId, transferId, kind, expiresAt }: Pick<Quote, "projectId" | "transferId" | "kind" | "expiresAt">,
  { type, at }: { type: "transfer.created" | "transfer.approved" | "transfer.cancelled"; at: Date },
): Promise<void> => {
  if (transferId === null) return;
  const status = type === "transfer.cancelled" ? "cancelled" : "pending";
  const data = { operationId: null, transferId, kind, status, expiresAt: expiresAt.toISOString() };
  await recordEvents(tx, [{ projectId, type, objectId: transferId, data, at }]);
};

const parsed = (row: QuoteRow | null): Quote | null => (row === null ? null : parseQuote(row));

// A statement of its own, because every quote of an API key passes here, and Prisma takes longer than the insert itself.
const INSERT = `
  INSERT INTO quote (id, project_id, kind, transfer_id, retry_of, created_by, request, route, response, minimum_base, digest,
    created_at, expires_at, idempotency_key, request_digest, status, operation_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9::jsonb, $10::numeric, $11::bytea, $12::timestamptz, $13::timestamptz,
    $14, $15::bytea, $16, $17)
  ON CONFLICT DO NOTHING
  RETURNING id`;

const insertValues = ({ idempotency, ...quote }: NewQuote, operationId: string | null): unknown[] => {
  const { id, projectId, kind, transferId, retryOf, createdBy, minimumBase, digest, createdAt, expiresAt } = quote;
  return [
    ...[id, projectId, kind, transferId, retryOf, createdBy],
    ...[quote.request, quote.route, quote.response].map(storedText),
    ...[minimumBase.toString(), digest, createdAt.toISOString(), expiresAt.toISOString()],
    ...[idempotency?.key ?? null, idempotency?.digest ?? null],
    ...[operationId === null ? "open" : "used", operationId],
  ];
};

/** False when its Idempotency-Key belongs to another quote. */
const insertQuote = async (sql: Sql, quote: NewQuote): Promise<boolean> =>
  (await sql.change(INSERT, insertValues(quote, null))) === 1;

/**
 * Stores a quote that was shown to nobody as used by an operation, as a part of the statement that accepts the operation. It returns no
 * row where another call with the same Idempotency-Key was first, for whose transaction it waits.
 */
export const usedQuotePart = (quote: NewQuote, operationId: string): StatementPart => ({
  text: INSERT,
  values: insertValues(quote, operationId),
});

/** The quote as a reader finds it. */
export const storedQuote = ({ idempotency, ...quote }: NewQuote): Quote => {
  const unused = { codeSentAt: null, approvedAt: null, approvedBy: null, approvalCodeId: null, approvalMeans: null };
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

/** Serialises calls with the same key: a second call waits here until the first one's transaction has ended. */
const isTaken = async (tx: Tx, { projectId, kind, createdBy }: Quote, idempotencyKey: string): Promise<boolean> => {
  const name = `quote:${projectId}:${kind}:${createdBy}:${idempotencyKey}`;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  const where = { projectId_kind_createdBy_idempotencyKey: { projectId, kind, createdBy, idempotencyKey } };
  return (await tx.quote.findUnique({ where, select: { id: true } })) !== null;
};

export type QuotesRepository = ReturnType<typeof createQuotesRepository>;

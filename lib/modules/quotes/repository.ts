import type { Database, Tx } from "@/lib/db/client";
import type { Prisma, Quote } from "@/lib/db/generated/client";

export type QuoteRow = Quote;

/** A call that counts once: its caller's Idempotency-Key, and SHA-256 of what was asked for. */
export interface Once {
  readonly key: string;
  readonly digest: Uint8Array<ArrayBuffer>;
}

/** What steps (b) to (d) are about. A transfer is a quote of its own kind, and `transferId` its name. */
export interface Subject {
  readonly quoteId?: string | undefined;
  readonly transferId?: string | undefined;
}

export const createQuotesRepository = (database: Database) => ({
  /** Null: its Idempotency-Key made another one. */
  insert: async (quote: Prisma.QuoteUncheckedCreateInput): Promise<QuoteRow | null> => {
    const [row] = await database.prisma.quote.createManyAndReturn({ data: [quote], skipDuplicates: true });
    return row ?? null;
  },

  find: async (projectId: string, { quoteId, transferId }: Subject): Promise<QuoteRow | null> => {
    if (quoteId === undefined && transferId === undefined) return null;
    const where = {
      projectId,
      ...(quoteId === undefined ? {} : { id: quoteId }),
      ...(transferId === undefined ? {} : { transferId }),
    };
    return database.prisma.quote.findFirst({ where });
  },

  /** What a caller's Idempotency-Key was used for already. */
  findByKey: (projectId: string, kind: string, idempotencyKey: string): Promise<QuoteRow | null> =>
    database.prisma.quote.findUnique({ where: { projectId_kind_idempotencyKey: { projectId, kind, idempotencyKey } } }),

  findByOperation: (projectId: string, operationId: string): Promise<QuoteRow | null> =>
    database.prisma.quote.findFirst({ where: { projectId, operationId } }),

  /** Transfers, newest first, below the id `before`. */
  listTransfers: (page: { projectId: string; before?: string | undefined; limit: number }): Promise<QuoteRow[]> =>
    database.prisma.quote.findMany({
      where: { projectId: page.projectId, transferId: page.before === undefined ? { not: null } : { lt: page.before } },
      orderBy: { transferId: "desc" },
      take: page.limit,
    }),

  /** Notes that a code for it was sent. */
  codeSent: async (id: string, now: Date): Promise<void> => {
    await database.prisma.quote.updateMany({ where: { id, codeSentAt: null }, data: { codeSentAt: now } });
  },

  /** Notes that its one-time code was right. */
  approve: async (id: string, now: Date): Promise<void> => {
    await database.prisma.quote.updateMany({ where: { id, approvedAt: null }, data: { approvedAt: now } });
  },

  /** False when it was used, or prepared by somebody else, since `read`. */
  markPrepared: async (
    read: Pick<QuoteRow, "id" | "preparedUntil">,
    prepared: {
      route: Prisma.InputJsonValue;
      response: Prisma.InputJsonValue;
      prepared: Prisma.InputJsonValue;
      preparedUntil: Date;
    },
  ): Promise<boolean> => {
    const { count } = await database.prisma.quote.updateMany({
      where: { id: read.id, status: { in: ["open", "prepared"] }, preparedUntil: read.preparedUntil },
      data: { ...prepared, status: "prepared" },
    });
    return count === 1;
  },

  /** False when it was used or cancelled, or prepared by somebody, since `read`. */
  cancel: async (read: Pick<QuoteRow, "id" | "preparedUntil">): Promise<boolean> => {
    const { count } = await database.prisma.quote.updateMany({
      where: { id: read.id, status: { in: ["open", "prepared"] }, preparedUntil: read.preparedUntil },
      data: { status: "cancelled" },
    });
    return count === 1;
  },

  /**
   * Uses the quote up, inside the transaction that accepts its operation. False when it was used already, is not prepared, or
   * was prepared anew since it was read. `now` null: also when the lock is over.
   */
  claim: async (
    tx: Tx,
    claim: { id: string; operationId: string; preparedUntil: Date; now: Date | null },
  ): Promise<boolean> => {
    const { count } = await tx.quote.updateMany({
      where: {
        id: claim.id,
        status: "prepared",
        preparedUntil: { equals: claim.preparedUntil, ...(claim.now === null ? {} : { gt: claim.now }) },
      },
      data: { status: "used", operationId: claim.operationId },
    });
    return count === 1;
  },

  /**
   * Uses a quote up that nobody but the call that made it knows, so that it needs no preparing, and the call's Idempotency-Key with
   * it. False when either was used already: of any number of calls with one key, one gets true.
   */
  claimOpen: async (tx: Tx, quote: QuoteRow, operationId: string, once: Once | null): Promise<boolean> => {
    if (once !== null && (await isTaken(tx, quote, once.key))) return false;
    const key = once === null ? {} : { idempotencyKey: once.key, requestDigest: once.digest };
    const { count } = await tx.quote.updateMany({
      where: { id: quote.id, status: "open" },
      data: { status: "used", operationId, ...key },
    });
    return count === 1;
  },
});

/** Whoever asks for the same key waits here until the transaction of the first has ended. */
const isTaken = async (tx: Tx, { projectId, kind }: QuoteRow, idempotencyKey: string): Promise<boolean> => {
  const name = `quote:${projectId}:${kind}:${idempotencyKey}`;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  const where = { projectId_kind_idempotencyKey: { projectId, kind, idempotencyKey } };
  return (await tx.quote.findUnique({ where, select: { id: true } })) !== null;
};

export type QuotesRepository = ReturnType<typeof createQuotesRepository>;

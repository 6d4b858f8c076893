import type { Database, Tx } from "@/lib/db/client";
import type { Prisma, Quote } from "@/lib/db/generated/client";

export type QuoteRow = Quote;

export const createQuotesRepository = (database: Database) => ({
  insert: async (quote: Prisma.QuoteUncheckedCreateInput): Promise<void> => {
    await database.prisma.quote.create({ data: quote });
  },

  find: (projectId: string, id: string): Promise<QuoteRow | null> =>
    database.prisma.quote.findFirst({ where: { id, projectId } }),

  /** Notes that its one-time code was right. */
  approve: async (id: string, now: Date): Promise<void> => {
    await database.prisma.quote.updateMany({ where: { id, approvedAt: null }, data: { approvedAt: now } });
  },

  /** False when it was used in the meantime. */
  markPrepared: async (
    id: string,
    prepared: { route: Prisma.InputJsonValue; prepared: Prisma.InputJsonValue; preparedUntil: Date },
  ): Promise<boolean> => {
    const { count } = await database.prisma.quote.updateMany({
      where: { id, status: { in: ["open", "prepared"] } },
      data: { ...prepared, status: "prepared" },
    });
    return count === 1;
  },

  /**
   * Uses the quote up, inside the transaction that accepts its operation. False when it was used already, is not prepared, or
   * was prepared anew since it was read.
   */
  claim: async (
    tx: Tx,
    claim: { id: string; operationId: string; preparedUntil: Date; now: Date },
  ): Promise<boolean> => {
    const { count } = await tx.quote.updateMany({
      where: { id: claim.id, status: "prepared", preparedUntil: { equals: claim.preparedUntil, gt: claim.now } },
      data: { status: "used", operationId: claim.operationId },
    });
    return count === 1;
  },
});

export type QuotesRepository = ReturnType<typeof createQuotesRepository>;

import type { Database } from "@/lib/db/client";
import { parsePrivateQuote, privateQuoteColumns, type PrivateQuote } from "./private-quote";

/** Prices of private swaps. */
export const createQuoteRepository = ({ prisma }: Pick<Database, "prisma">) => ({
  insertQuote: async (quote: PrivateQuote): Promise<void> => {
    await prisma.privacyQuote.create({ data: privateQuoteColumns(quote) });
  },

  findQuote: async (projectId: string, id: string): Promise<PrivateQuote | null> => {
    const row = await prisma.privacyQuote.findUnique({ where: { projectId_id: { projectId, id } } });
    return row === null ? null : parsePrivateQuote(row);
  },

  /** open or prepared → prepared. False when the quote was used, or was prepared by somebody else since it was read. */
  prepareQuote: async (
    { projectId, id, walletId, codeId }: PrivateQuote,
    change: { walletId: string; approvedAt: Date | null; codeId: string | null; codeMeans: string | null },
    now: Date,
  ): Promise<boolean> => {
    const { count } = await prisma.privacyQuote.updateMany({
      where: { projectId, id, walletId, codeId, status: { in: ["open", "prepared"] }, expiresAt: { gt: now } },
      data: { status: "prepared", ...change },
    });
    return count === 1;
  },
});

import type { Database } from "@/lib/db/client";
import type { Prisma, PrivacyQuote } from "@/lib/db/generated/client";

export type QuoteRow = PrivacyQuote;
type NewQuote = Prisma.PrivacyQuoteUncheckedCreateInput;

/** Prices of private swaps. */
export const createQuoteRepository = ({ prisma }: Pick<Database, "prisma">) => ({
  insertQuote: async (quote: NewQuote): Promise<void> => {
    await prisma.privacyQuote.create({ data: quote });
  },

  findQuote: (projectId: string, id: string): Promise<QuoteRow | null> =>
    prisma.privacyQuote.findUnique({ where: { projectId_id: { projectId, id } } }),

  /** open or prepared → prepared. False when it was used, or prepared by somebody else since it was read. */
  prepareQuote: async (
    { projectId, id, walletId, codeId }: QuoteRow,
    change: { walletId: string; approvedAt: Date | null; codeId: string | null },
    now: Date,
  ): Promise<boolean> => {
    const { count } = await prisma.privacyQuote.updateMany({
      where: { projectId, id, walletId, codeId, status: { in: ["open", "prepared"] }, expiresAt: { gt: now } },
      data: { status: "prepared", ...change },
    });
    return count === 1;
  },
});

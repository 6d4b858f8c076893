/** The quote that a person reviews, kept in this tab, so that a reload goes on at its code. */
import { z } from "zod";
import { quotePrivateSwap } from "@/lib/contracts/privacy-swap";
import type { PrivateQuote } from "../types";

const KEY = "causeway.private.quote";

const keptQuote = z.object({
  /** As in a draft: the id of the project's treasury. */
  owner: z.string(),
  walletId: z.string(),
  quote: quotePrivateSwap.response,
});

type Kept = z.infer<typeof keptQuote>;

/** Null where there is none, it has expired, or it is about another project or wallet. */
export const readKeptQuote = ({ owner, walletId }: Pick<Kept, "owner" | "walletId">): PrivateQuote | null => {
  try {
    const kept = keptQuote.parse(JSON.parse(sessionStorage.getItem(KEY) ?? "null"));
    const isMine = kept.owner === owner && kept.walletId === walletId;
    return isMine && Date.parse(kept.quote.expiresAt) > Date.now() ? kept.quote : null;
  } catch {
    return null;
  }
};

export const keepQuote = (kept: Kept): void => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing only loses the convenience.
  }
};

export const dropKeptQuote = (): void => {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // As above.
  }
};

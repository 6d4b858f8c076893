import { z } from "zod";
import { SOURCES_MAX } from "@/lib/contracts/swap";
import type { SwapValues } from "./form-model";

const KEY = "causeway.swap.draft";

const draft = z.object({
  sources: z
    .array(z.object({ address: z.string(), chainId: z.string(), token: z.string(), amount: z.string() }))
    .min(1)
    .max(SOURCES_MAX),
  toChainId: z.string(),
  toToken: z.string(),
  toAddress: z.string(),
  slippage: z.string(),
});

/**
 * The values typed in this tab before it was reloaded or sent to the sign-in page; null when there are none to go on with. A draft
 * that names other wallets than these was typed by somebody else, and its recipient may be theirs: it is not used.
 */
export const readDraft = (wallets: readonly string[]): SwapValues | null => {
  try {
    const found = draft.parse(JSON.parse(sessionStorage.getItem(KEY) ?? "null"));
    return found.sources.every((source) => wallets.includes(source.address)) ? found : null;
  } catch {
    return null;
  }
};

export const saveDraft = (values: SwapValues): void => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(values));
  } catch {
    // A browser that keeps nothing only loses the convenience.
  }
};

export const dropDraft = (): void => {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // As above.
  }
};

import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import type { listTokens } from "@/lib/contracts/chains";
import type { createQuote } from "@/lib/contracts/swap";

export type QuoteBody = BodyInput<typeof createQuote>;
export type Quote = ResponseOf<typeof createQuote>;
export type TokenInfo = ResponseOf<typeof listTokens>["data"][number];

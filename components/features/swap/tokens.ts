import { apiQuery } from "@/components/features/session/api-query";
import { listTokens } from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import type { createQuote } from "@/lib/contracts/swap";

export type QuoteBody = BodyInput<typeof createQuote>;
export type Quote = ResponseOf<typeof createQuote>;
export type TokenInfo = ResponseOf<typeof listTokens>["data"][number];

const STALE_MS = 30_000;

/** Every token of the project on every chain. */
export const tokensQuery = { ...apiQuery(listTokens, {}), staleTime: STALE_MS };

export interface AssetInfo {
  readonly assetId: string;
  readonly symbol: string;
  readonly name: string;
  /** Its tokens, one per chain that has it. */
  readonly tokens: readonly TokenInfo[];
  readonly chainIds: readonly string[];
}

/** Each asset once, with its tokens and chains. */
export const assetsOf = (tokens: readonly TokenInfo[]): AssetInfo[] =>
  [...new Set(tokens.map((token) => token.assetId))].map((assetId) => {
    const members = tokens.filter((token) => token.assetId === assetId);
    return {
      assetId,
      symbol: members[0]?.symbol ?? assetId,
      name: members[0]?.name ?? assetId,
      tokens: members,
      chainIds: members.map((token) => String(token.chainId)),
    };
  });

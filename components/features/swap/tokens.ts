import { apiQuery } from "@/components/features/session/api-query";
import { listTokens } from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import type { createQuote } from "@/lib/contracts/swap";

export type QuoteBody = BodyInput<typeof createQuote>;
export type Quote = ResponseOf<typeof createQuote>;
export type TokenInfo = ResponseOf<typeof listTokens>["data"][number];

const STALE_MS = 30_000;

export const tokensQuery = { ...apiQuery(listTokens, {}), staleTime: STALE_MS };

export interface AssetInfo {
  readonly assetId: string;
  readonly symbol: string;
  readonly name: string;
  /** One token for each chain that has the asset. */
  readonly tokens: readonly TokenInfo[];
  readonly chainIds: readonly string[];
}

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

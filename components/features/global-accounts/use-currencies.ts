"use client";

import { useApiQuery } from "@/components/features/session/use-api";
import { listTokens } from "@/lib/api-client/calls.gen";

export interface Currency {
  readonly assetId: string;
  readonly symbol: string;
  readonly name: string;
  /** Where the treasury can hold it, with what it is called there. */
  readonly tokens: readonly { readonly chainId: number; readonly symbol: string }[];
}

const STALE_MS = 30_000;

/** Every asset of the project once; undefined until they are known. */
export const useCurrencies = (): readonly Currency[] | undefined => {
  const tokens = useApiQuery(listTokens, {}, { staleTimeMs: STALE_MS }).data?.data;
  if (tokens === undefined) return undefined;
  return [...new Set(tokens.map((token) => token.assetId))].map((assetId) => {
    const members = tokens.filter((token) => token.assetId === assetId);
    return {
      assetId,
      symbol: members[0]?.symbol ?? assetId,
      name: members[0]?.name ?? assetId,
      tokens: members.map(({ chainId, symbol }) => ({ chainId, symbol })),
    };
  });
};

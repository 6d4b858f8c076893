import { listTokens } from "@/lib/contracts/chains";
import type { Token } from "@/lib/core/token";
import { ok, route } from "@/lib/http/route";

const PRICES_TIMEOUT_MS = 2000;
const SLIP44_ETHER = 60;

/** The token's name as a CAIP-19 asset type. */
const assetName = ({ chainId, address }: Token): string =>
  address === "native"
    ? `eip155:${chainId}/slip44:${SLIP44_ETHER}`
    : `eip155:${chainId}/erc20:${address}`;

export const GET = route({
  contract: listTokens,
  handler: async ({ query, services }) => {
    const tokens = services.registry.tokens(query.chainId);
    // Prices are optional: without them the list of tokens is still useful.
    const prices = await services.prices
      .priceUsd(tokens, AbortSignal.timeout(PRICES_TIMEOUT_MS))
      .catch(() => []);
    return ok({
      data: tokens.map((token, index) => ({
        symbol: token.symbol,
        name: token.name,
        address: token.address,
        chainId: token.chainId,
        decimals: token.decimals,
        assetId: token.assetId,
        caip19: assetName(token),
        usdPegged: token.usdPegged,
        priceUsd: prices[index] ?? null,
      })),
    });
  },
});

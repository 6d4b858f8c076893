import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { ChainRegistry } from "./registry";

export interface Asset {
  readonly assetId: string;
  /** The symbol of the first token of the asset. */
  readonly symbol: string;
  /**
   * The largest `decimals` of the asset's tokens: the number of fraction digits that an amount of
   * the asset may have.
   */
  readonly decimals: number;
  readonly tokens: readonly Token[];
}

export interface Assets {
  list(): readonly Asset[];
  /** The asset with this id; null when no configured chain lists it. */
  find(assetId: string): Asset | null;
  /**
   * Finds an asset by symbol (any case) or assetId.
   * @throws DomainError `unsupported_token`, which names the field at `path`
   */
  resolve(ref: string, path: string): Asset;
}

const assetOf = (assetId: string, tokens: readonly Token[]): Asset => ({
  assetId,
  symbol: tokens[0]?.symbol ?? assetId,
  decimals: Math.max(...tokens.map((token) => token.decimals)),
  tokens,
});

export const createAssets = (registry: Pick<ChainRegistry, "tokens">): Assets => {
  const byId = new Map<string, Token[]>();
  for (const token of registry.tokens())
    byId.set(token.assetId, [...(byId.get(token.assetId) ?? []), token]);
  const all = [...byId].map(([assetId, tokens]) => assetOf(assetId, tokens));
  return {
    list: () => all,
    find: (assetId) => all.find((asset) => asset.assetId === assetId) ?? null,
    resolve: (ref, path) => {
      const wanted = ref.toLowerCase();
      const asset =
        all.find(({ assetId }) => assetId === wanted) ??
        all.find(({ symbol }) => symbol.toLowerCase() === wanted);
      if (asset) return asset;
      const message = `${ref} is not an asset of the project. It may be one of ${all.map(({ symbol }) => symbol).join(", ")}.`;
      throw new DomainError("unsupported_token", message, {
        details: [{ path, message, code: "unsupported_token" }],
      });
    },
  };
};

import type { Token } from "@/lib/core/token";

export interface ShownChain {
  readonly name: string;
  /** Number of confirmations of a final block; null when the chain is no longer configured. */
  readonly confirmations: number | null;
  readonly explorerUrl?: string | undefined;
  readonly nativeCurrency: { readonly symbol: string; readonly decimals: number };
  readonly tokens: readonly { readonly address: string; readonly assetId: string }[];
}

/** Implemented by `ChainRegistry`. */
export interface ChainFacts {
  find(chainId: number): ShownChain | null;
}

const COIN_DECIMALS = 18;

/**
 * The chain as records show it. A chain that was removed from the configuration is shown by its
 * number, because its records are still shown.
 */
export const shownChain = (chains: ChainFacts, chainId: number): ShownChain =>
  chains.find(chainId) ?? {
    name: `chain ${String(chainId)}`,
    confirmations: null,
    nativeCurrency: { symbol: "coin", decimals: COIN_DECIMALS },
    tokens: [],
  };

/**
 * The chain's coin as records show it. For a chain that was removed from the configuration, it is
 * taken from the record's stored tokens.
 */
export const shownCoin = (chains: ChainFacts, chainId: number, stored: readonly Token[]) => {
  const { nativeCurrency, tokens } = shownChain(chains, chainId);
  const known = stored.find((token) => token.address === "native" && token.chainId === chainId);
  const { symbol, decimals } =
    chains.find(chainId) === null && known !== undefined ? known : nativeCurrency;
  const assetId =
    tokens.find(({ address }) => address === "native")?.assetId ??
    known?.assetId ??
    symbol.toLowerCase();
  return { symbol, address: "native", chainId, decimals, assetId } as const;
};

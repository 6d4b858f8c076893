/** A token on one chain, as configured. `address` is checksummed (EIP-55), or `native`. */
export interface Token {
  readonly symbol: string;
  readonly name: string;
  readonly chainId: number;
  readonly address: `0x${string}` | "native";
  readonly decimals: number;
  /** The asset over all chains: totals are grouped by it, never by the symbol. */
  readonly assetId: string;
  readonly usdPegged: boolean;
}

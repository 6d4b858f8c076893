/**
 * A token on one chain, as configured. `address` is checksummed (EIP-55), or `native` for the coin
 * of the chain.
 */
export interface Token {
  readonly symbol: string;
  readonly name: string;
  readonly chainId: number;
  readonly address: `0x${string}` | "native";
  readonly decimals: number;
  /**
   * Identifies the same asset on all chains. Totals are grouped by this id, never by the symbol.
   */
  readonly assetId: string;
  readonly usdPegged: boolean;
}

import { formatAmount } from "./money";

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
   * Identifies the same asset on all chains. Totals are grouped by this id, because symbols are not
   * unique.
   */
  readonly assetId: string;
  readonly usdPegged: boolean;
}

type Named = Pick<Token, "symbol" | "chainId" | "decimals" | "assetId"> & {
  readonly address: string;
};

/** A token in the form that records of the API have. */
export const toTokenRecord = ({ symbol, address, chainId, decimals, assetId }: Named) => ({
  symbol,
  address,
  chainId,
  decimals,
  assetId,
});

/** An amount in base units with its token, in the form that records of the API have. */
export const toAmountRecord = (token: Named, base: bigint) => ({
  token: toTokenRecord(token),
  amount: formatAmount(base, token.decimals),
  amountBase: base.toString(),
  decimals: token.decimals,
});

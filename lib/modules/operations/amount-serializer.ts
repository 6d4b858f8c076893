import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";

/** A token as records name it. */
export const tokenRecord = ({ symbol, address, chainId, decimals, assetId }: Token) => ({
  symbol,
  address,
  chainId,
  decimals,
  assetId,
});

/** An amount in base units of its token, as records show it. */
export const amountRecord = (token: Token, base: bigint) => ({
  token: tokenRecord(token),
  amount: formatAmount(base, token.decimals),
  amountBase: base.toString(),
  decimals: token.decimals,
});

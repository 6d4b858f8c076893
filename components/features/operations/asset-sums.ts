import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";

interface Part {
  readonly amount: string;
  readonly token: { readonly symbol: string; readonly assetId: string; readonly decimals: number };
}

export interface AssetSum {
  readonly assetId: string;
  readonly symbol: string;
  readonly amount: string;
}

/** Exact at as many digits as the asset has on the chain where it has most. */
const baseOf = ({ amount }: Part, digits: number): bigint => scaledTo(parseDecimal(amount), digits, "floor");

/** One sum per asset, in the order of their first part. Decimals of one asset may differ between chains. */
export const sumByAsset = (parts: readonly Part[]): AssetSum[] =>
  [...new Set(parts.map((part) => part.token.assetId))].map((assetId) => {
    const members = parts.filter((part) => part.token.assetId === assetId);
    const digits = Math.max(...members.map((part) => part.token.decimals));
    const sum = members.reduce((total, part) => total + baseOf(part, digits), 0n);
    return { assetId, symbol: members[0]?.token.symbol ?? "", amount: formatAmount(sum, digits) };
  });

import { worthOf as exactWorth } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";

/** One wallet's balance of one token. */
export interface Position {
  readonly walletId: string;
  readonly address: string;
  readonly token: Token;
  readonly amountBase: bigint;
}

export interface AssetTotal {
  readonly assetId: string;
  readonly symbol: string;
  /** The asset's largest number of decimals on any chain, so that the sum is exact. */
  readonly decimals: number;
  readonly amountBase: bigint;
  readonly positions: readonly Position[];
}

const USD_DECIMALS = 6;

/** Sums balances by asset, exactly. When decimals differ between chains, the largest number is used. Omits assets with a zero sum. */
export const totalByAsset = (positions: readonly Position[]): AssetTotal[] => {
  const groups = new Map<string, Position[]>();
  for (const position of positions) {
    if (position.amountBase === 0n) continue;
    const group = groups.get(position.token.assetId);
    if (group) group.push(position);
    else groups.set(position.token.assetId, [position]);
  }
  return [...groups.entries()].map(([assetId, group]) => {
    const decimals = Math.max(...group.map(({ token }) => token.decimals));
    return {
      assetId,
      symbol: group[0]?.token.symbol ?? assetId,
      decimals,
      amountBase: group.reduce(
        (sum, { token, amountBase }) => sum + amountBase * 10n ** BigInt(decimals - token.decimals),
        0n,
      ),
      positions: group,
    };
  });
};

/** Worth in millionths of a dollar, rounded down; null when the price is not known. `priceUsd` is a decimal string. */
export const worthMicroUsd = (amountBase: bigint, decimals: number, priceUsd: string | null): bigint | null => {
  return priceUsd === null ? null : exactWorth({ amountBase, decimals, price: priceUsd }, USD_DECIMALS, "floor");
};

export const formatUsd = (microUsd: bigint | null): string | null =>
  microUsd === null ? null : formatAmount(microUsd, USD_DECIMALS);

/** Worth of a position in millionths of a dollar, rounded down; null when the price is not known. */
export const worthOf = ({ token, amountBase }: Position, priceUsd: string | null): bigint | null =>
  worthMicroUsd(amountBase, token.decimals, priceUsd);

/** The sum, or null when one part is null, because a partial sum would be wrong. */
export const sumOfWorths = (worths: readonly (bigint | null)[]): bigint | null =>
  worths.reduce<bigint | null>((sum, worth) => (sum === null || worth === null ? null : sum + worth), 0n);

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
  /** The most that the asset has on any chain, so that every part is exact in it. */
  readonly decimals: number;
  readonly amountBase: bigint;
  readonly positions: readonly Position[];
}

const USD_DECIMALS = 6;

/** Sums by asset, exactly: where decimals differ between chains the larger number counts. Assets without any are left out. */
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

/** Worth in millionths of a dollar, rounded down; null where the price is not known. `priceUsd` is a decimal string. */
export const worthMicroUsd = (amountBase: bigint, decimals: number, priceUsd: string | null): bigint | null => {
  return priceUsd === null ? null : exactWorth({ amountBase, decimals, price: priceUsd }, USD_DECIMALS, "floor");
};

export const formatUsd = (microUsd: bigint | null): string | null =>
  microUsd === null ? null : formatAmount(microUsd, USD_DECIMALS);

/** Worth in millionths of a dollar; null where the price is not known. */
export const worthOf = ({ token, amountBase }: Position, priceUsd: string | null): bigint | null =>
  worthMicroUsd(amountBase, token.decimals, priceUsd);

/** Null as soon as one part is unknown: a sum that leaves something out would be a wrong sum. */
export const sumOfWorths = (worths: readonly (bigint | null)[]): bigint | null =>
  worths.reduce<bigint | null>((sum, worth) => (sum === null || worth === null ? null : sum + worth), 0n);

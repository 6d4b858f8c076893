import type { getUnifiedBalances } from "@/lib/contracts/balances";
import type { ResponseOf } from "@/lib/contracts/contract";
import { formatAmount } from "@/lib/core/money";
import type { UnifiedBalances } from "./service";
import { formatUsd, worthMicroUsd, type AssetTotal, type Position } from "./totals";

type Body = ResponseOf<typeof getUnifiedBalances>;
type Total = Body["totals"][number];
type Part = Total["breakdown"][number];

const worthOf = ({ token, amountBase }: Position, priceOf: UnifiedBalances["priceOf"]): bigint | null =>
  worthMicroUsd(amountBase, token.decimals, priceOf(token));

/** Null as soon as one part is unknown: a sum that leaves something out would be a wrong sum. */
const sumOf = (worths: readonly (bigint | null)[]): bigint | null =>
  worths.reduce<bigint | null>((sum, worth) => (sum === null || worth === null ? null : sum + worth), 0n);

const toPart = (position: Position, priceOf: UnifiedBalances["priceOf"]): Part => {
  const { token, amountBase } = position;
  const { symbol, address, chainId, decimals, assetId } = token;
  return {
    chainId,
    walletId: position.walletId,
    address: position.address as Part["address"],
    token: { symbol, address, chainId, decimals, assetId },
    amount: formatAmount(amountBase, decimals),
    amountBase: amountBase.toString(),
    usd: formatUsd(worthOf(position, priceOf)),
  };
};

const toTotal = (total: AssetTotal, priceOf: UnifiedBalances["priceOf"]): Total => ({
  token: total.symbol,
  assetId: total.assetId,
  amount: formatAmount(total.amountBase, total.decimals),
  amountBase: total.amountBase.toString(),
  decimals: total.decimals,
  usd: formatUsd(sumOf(total.positions.map((position) => worthOf(position, priceOf)))),
  breakdown: total.positions.map((position) => toPart(position, priceOf)),
});

export const toUnifiedBalances = (balances: UnifiedBalances): Body => {
  const worths = balances.totals.flatMap((total) =>
    total.positions.map((position) => worthOf(position, balances.priceOf)),
  );
  return {
    totals: balances.totals.map((total) => toTotal(total, balances.priceOf)),
    totalUsd: formatUsd(sumOf(worths)),
    asOf: balances.asOf.map(({ chainId, blockNumber, at }) => ({
      chainId,
      blockNumber: blockNumber.toString(),
      at: at.toISOString(),
    })),
    stale: balances.stale.map(({ chainId, reason, lastSeenAt }) => ({
      chainId,
      reason,
      lastSeenAt: lastSeenAt?.toISOString() ?? null,
    })),
  };
};

import type { getBalanceHistory, getUnifiedBalances } from "@/lib/contracts/balances";
import type { ResponseOf } from "@/lib/contracts/contract";
import { formatAmount } from "@/lib/core/money";
import type { HistoryPoint } from "./history-point";
import type { UnifiedBalances } from "./service";
import { formatUsd, sumOfWorths, worthOf, type AssetTotal, type Position } from "./totals";

type Body = ResponseOf<typeof getUnifiedBalances>;
type Total = Body["totals"][number];
type Part = Total["breakdown"][number];

const toPart = ({ token, amountBase, walletId, address }: Position, worth: bigint | null): Part => {
  const { symbol, address: tokenAddress, chainId, decimals, assetId } = token;
  return {
    chainId,
    walletId,
    address: address as Part["address"],
    token: { symbol, address: tokenAddress, chainId, decimals, assetId },
    amount: formatAmount(amountBase, decimals),
    amountBase: amountBase.toString(),
    usd: formatUsd(worth),
  };
};

const toTotal = (total: AssetTotal, worths: readonly (bigint | null)[]): Total => ({
  token: total.symbol,
  assetId: total.assetId,
  amount: formatAmount(total.amountBase, total.decimals),
  amountBase: total.amountBase.toString(),
  decimals: total.decimals,
  usd: formatUsd(sumOfWorths(worths)),
  breakdown: total.positions.map((position, index) => toPart(position, worths[index] ?? null)),
});

export const toUnifiedBalances = (balances: UnifiedBalances): Body => {
  const worths = balances.totals.map((total) =>
    total.positions.map((position) => worthOf(position, balances.priceOf(position.token))),
  );
  return {
    totals: balances.totals.map((total, index) => toTotal(total, worths[index] ?? [])),
    totalUsd: formatUsd(sumOfWorths(worths.flat())),
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

export const toBalanceHistory = (points: readonly HistoryPoint[]): ResponseOf<typeof getBalanceHistory> => ({
  data: points.map(({ takenAt, totalUsd, assets }) => ({
    takenAt: takenAt.toISOString(),
    totalUsd,
    assets: assets.map(({ assetId, token, amount, usd }) => ({ assetId, token, amount, usd })),
  })),
});

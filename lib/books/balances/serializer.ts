import type { getBalanceHistory, getUnifiedBalances } from "@/lib/contracts/balances";
import type { ResponseOf } from "@/lib/contracts/contract";
import { formatAmount } from "@/lib/core/money";
import type { HistoryPoint } from "./repository";
import type { UnifiedBalances } from "./service";
import {
  formatUsd,
  sumOfWorths,
  worthOf,
  type AssetTotal,
  type Parts,
  type Position,
} from "./totals";
import { toTokenRecord } from "@/lib/core/token";

type Body = ResponseOf<typeof getUnifiedBalances>;
type Total = Body["totals"][number];
type Part = Total["breakdown"][number];

const toParts = (parts: Parts, decimals: number) => ({
  amount: formatAmount(parts.amountBase, decimals),
  amountBase: parts.amountBase.toString(),
  available: formatAmount(parts.availableBase, decimals),
  backing: formatAmount(parts.backingBase, decimals),
  reserved: formatAmount(parts.reservedBase, decimals),
  pendingOut: formatAmount(parts.pendingOutBase, decimals),
  quarantined: formatAmount(parts.quarantinedBase, decimals),
  pendingIn: formatAmount(parts.pendingInBase, decimals),
});

type Worth = (position: Position) => bigint | null;

const toPart = (position: Position, worth: bigint | null): Part => {
  const { token, walletId, address } = position;
  return {
    chainId: token.chainId,
    walletId,
    address: address as Part["address"],
    token: toTokenRecord(token),
    ...toParts(position, token.decimals),
    usd: formatUsd(worth),
  };
};

const worthOfAll = (positions: readonly Position[], worth: Worth): string | null =>
  formatUsd(sumOfWorths(positions.map(worth)));

const toTotal = (total: AssetTotal, worth: Worth, listed: ReadonlySet<string>): Total => ({
  token: total.symbol,
  assetId: total.assetId,
  ...toParts(total, total.decimals),
  decimals: total.decimals,
  usd: worthOfAll(total.positions, worth),
  chains: total.chains.map(({ chainId, decimals, positions, ...parts }) => ({
    chainId,
    ...toParts(parts, decimals),
    usd: worthOfAll(positions, worth),
  })),
  breakdown: total.positions
    .filter(({ walletId }) => listed.has(walletId))
    .map((position) => toPart(position, worth(position))),
});

export const toUnifiedBalances = (balances: UnifiedBalances): Body => {
  const worth: Worth = (position) => worthOf(position, balances.priceOf(position.token));
  return {
    totals: balances.totals.map((total) => toTotal(total, worth, balances.page.walletIds)),
    totalUsd: worthOfAll(
      balances.totals.flatMap(({ positions }) => positions),
      worth,
    ),
    nextCursor: balances.page.nextCursor,
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

export const toBalanceHistory = (
  points: readonly HistoryPoint[],
): ResponseOf<typeof getBalanceHistory> => ({
  data: points.map(({ takenAt, totalUsd, assets }) => ({
    takenAt: takenAt.toISOString(),
    totalUsd,
    assets: assets.map(({ assetId, token, amount, usd }) => ({ assetId, token, amount, usd })),
  })),
});

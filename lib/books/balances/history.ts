import { LRUCache } from "lru-cache";
import type { Clock } from "@/lib/core/clock";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { HistoryPoint, SnapshotRepository } from "./repository";
import { formatUsd, sumOfWorths, worthOf, type AssetTotal } from "./totals";

interface Reading {
  readonly totals: readonly AssetTotal[];
  readonly priceOf: (token: Token) => string | null;
  readonly stale: readonly unknown[];
}

export interface HistoryDeps {
  readonly snapshots: SnapshotRepository;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

const DAY_MS = 86_400_000;
/**
 * Minimum milliseconds between writes for a project. More frequent writes are useless, because only
 * the latest point of an hour is kept.
 */
const WRITE_EVERY_MS = 60_000;
const PROJECTS_REMEMBERED_MAX = 5000;

const pointOf = ({ totals, priceOf }: Reading, takenAt: Date): HistoryPoint => {
  const worths = totals.map((total) =>
    sumOfWorths(total.positions.map((position) => worthOf(position, priceOf(position.token)))),
  );
  return {
    takenAt,
    totalUsd: formatUsd(sumOfWorths(worths)),
    assets: totals.map((total, index) => ({
      assetId: total.assetId,
      token: total.symbol,
      amount: formatAmount(total.amountBase, total.decimals),
      usd: formatUsd(worths[index] ?? null),
    })),
  };
};

/** The hourly balances of projects. Points are stored only when a project's balances are read. */
export const createBalanceHistory = ({ snapshots, clock, log }: HistoryDeps) => {
  const written = new LRUCache<string, number>({ max: PROJECTS_REMEMBERED_MAX });

  const isDue = (projectId: string, now: Date): boolean => {
    const last = written.get(projectId);
    if (last !== undefined && Math.abs(now.getTime() - last) < WRITE_EVERY_MS) return false;
    written.set(projectId, now.getTime());
    return true;
  };

  return {
    /**
     * Stores balances, unless a part is missing or stale. Does not wait for the database; errors
     * are logged and never thrown.
     */
    note: (projectId: string, balances: Reading): void => {
      const now = clock.now();
      if (balances.stale.length > 0 || !isDue(projectId, now)) return;
      snapshots.save(projectId, pointOf(balances, now)).catch((error: unknown) => {
        written.delete(projectId);
        log.warn({ err: error, projectId }, "a balance snapshot could not be kept");
      });
    },

    list: (projectId: string, days: number): Promise<HistoryPoint[]> =>
      snapshots.list(projectId, new Date(clock.now().getTime() - days * DAY_MS), days),
  };
};

export type BalanceHistory = ReturnType<typeof createBalanceHistory>;

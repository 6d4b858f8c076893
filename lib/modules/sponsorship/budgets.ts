/** The sponsor's budgets: the shapes and the arithmetic that checks and reservations share. */
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/db/client";
import type { SqlReader } from "@/lib/db/sql";
import { aboveOperationBudget, dailyBudgetUsed } from "./errors";
import type { Budget, SponsoredChain } from "./limits";
import { readUsage, type Usage } from "./repository";

export interface SponsorshipDeps {
  readonly database: Database;
  readonly registry: { get(chainId: number): SponsoredChain; list(): readonly SponsoredChain[] };
  readonly clock: Clock;
  /** The price at which an operation would be signed now, in wei per gas. @throws DomainError `chain_unavailable` */
  readonly maxFeePerGas: (chainId: number) => Promise<bigint>;
}
/** The most that the sponsor pays for a leg. */
export interface GasCost {
  readonly legId: string;
  readonly chainId: number;
  readonly maxWei: bigint;
}

/** The costs of one operation of a project, by leg. */
export interface OperationCosts {
  readonly projectId: string;
  readonly kind: string;
  readonly costs: readonly GasCost[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Midnight UTC at which the day of `at` begins. */
export const dayOf = (at: Date): Date => new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
export const dayText = (day: Date): string => day.toISOString().slice(0, 10);
export const resetOf = (day: Date): Date => new Date(day.getTime() + DAY_MS);

export const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

export const byChain = (costs: readonly GasCost[]): [number, readonly GasCost[]][] =>
  [...new Set(costs.map(({ chainId }) => chainId))]
    // All transactions lock budgets in this order, which prevents deadlocks.
    .sort((one, other) => one - other)
    .map((chainId) => [chainId, costs.filter((cost) => cost.chainId === chainId)]);

/** The parts of the costs to which the limit of an operation applies. */
export const unitsOf = (kind: string, neededWei: readonly bigint[]): readonly bigint[] =>
  kind === "payout" ? neededWei : [sum(neededWei)];

export const requireOperationBudget = (
  deps: SponsorshipDeps,
  chainId: number,
  { kind, neededWei, budget }: { kind: string; neededWei: readonly bigint[]; budget: Budget },
): void => {
  const tooMuch = unitsOf(kind, neededWei).find((wei) => wei > budget.operationWei);
  if (tooMuch === undefined) return;
  throw aboveOperationBudget(deps.registry.get(chainId), { neededWei: tooMuch, operationWei: budget.operationWei });
};

export const refuseDay = async (
  deps: SponsorshipDeps,
  sql: SqlReader,
  at: { projectId: string; chainId: number; day: Date },
  { neededWei, dailyWei }: { neededWei: bigint; dailyWei: bigint },
): Promise<Error> => {
  const usage = (await readUsage(sql, at.projectId, dayText(at.day))).get(at.chainId);
  return dailyBudgetUsed(deps.registry.get(at.chainId), {
    neededWei,
    dailyWei,
    remainingWei: remainingOf(dailyWei, usage),
    resetsAt: resetOf(at.day),
  });
};

export const NOTHING_USED: Usage = { reservedWei: 0n, usedWei: 0n };

/** The free part of a budget in wei; 0 when the limit was lowered below the used amount. */
export const remainingOf = (dailyWei: bigint, usage: Usage = NOTHING_USED): bigint => {
  const left = dailyWei - usage.reservedWei - usage.usedWei;
  return left > 0n ? left : 0n;
};

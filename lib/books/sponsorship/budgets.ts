import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import {
  type Budget,
  defaultBudgetOf,
  type ReservationChange,
  type SponsoredChain,
} from "./limits";
import {
  type OwnBudget,
  readBudgets,
  readUsage,
  release,
  reserve,
  reserveWithin,
  type StoredBudget,
  type Usage,
} from "./repository";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { aboveOperationBudget, dailyBudgetUsed } from "./errors";

// Computes the limits of a project: the operator's limits or the configured ones, possibly lowered
// by the project's own limits.

interface Chains {
  readonly registry: { get(chainId: number): SponsoredChain };
}

export interface EffectiveBudget extends Budget {
  /** The operator's or configured limits. The project's own limits cannot exceed them. */
  readonly ceiling: Budget;
  readonly own: OwnBudget;
}

const lower = (own: bigint | null, ceiling: bigint): bigint =>
  own !== null && own < ceiling ? own : ceiling;

export const budgetAt = (
  { registry }: Chains,
  stored: ReadonlyMap<number, StoredBudget>,
  chainId: number,
): EffectiveBudget => {
  const otherwise = defaultBudgetOf(registry.get(chainId));
  const set = stored.get(chainId);
  const own = set?.own ?? { dailyWei: null, operationWei: null };
  const ceiling = {
    dailyWei: set?.dailyWei ?? otherwise.dailyWei,
    operationWei: set?.operationWei ?? otherwise.operationWei,
  };
  return {
    dailyWei: lower(own.dailyWei, ceiling.dailyWei),
    operationWei: lower(own.operationWei, ceiling.operationWei),
    ceiling,
    own,
  };
};

const budgetsOf = async (
  deps: Chains,
  db: SqlReader,
  projectId: string,
): Promise<(chainId: number) => Budget> => {
  const own = await readBudgets(db, projectId);
  return (chainId) => budgetAt(deps, own, chainId);
};

export interface SponsorshipDeps {
  readonly database: Database;
  readonly registry: {
    get(chainId: number): SponsoredChain;
    list(): readonly SponsoredChain[];
  };
  readonly clock: Clock;
  /**
   * The maximum price per gas with which an operation would be signed now, in wei.
   * @throws DomainError `chain_unavailable`
   */
  readonly maxFeePerGas: (chainId: number) => Promise<bigint>;
}
export interface GasCost {
  readonly legId: string;
  readonly chainId: number;
  readonly maxWei: bigint;
}

export interface OperationCosts {
  readonly projectId: string;
  readonly kind: string;
  readonly costs: readonly GasCost[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Midnight UTC at the start of the day of `at`. */
export const dayOf = (at: Date): Date => new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
export const dayText = (day: Date): string => day.toISOString().slice(0, 10);
export const resetOf = (day: Date): Date => new Date(day.getTime() + DAY_MS);

export const sum = (values: readonly bigint[]): bigint =>
  values.reduce((total, value) => total + value, 0n);

export const byChain = (costs: readonly GasCost[]): [number, readonly GasCost[]][] =>
  [...new Set(costs.map(({ chainId }) => chainId))]
    // Sorted by chain id, because all transactions must lock budgets in one order to prevent
    // deadlocks.
    .sort((one, other) => one - other)
    .map((chainId) => [chainId, costs.filter((cost) => cost.chainId === chainId)]);

/**
 * The parts of the costs to which the limit per operation applies: each batch of a payout,
 * otherwise the sum.
 */
const unitsOf = (kind: string, neededWei: readonly bigint[]): readonly bigint[] =>
  kind === "payout" ? neededWei : [sum(neededWei)];

export const requireOperationBudget = (
  deps: SponsorshipDeps,
  chainId: number,
  { kind, neededWei, budget }: { kind: string; neededWei: readonly bigint[]; budget: Budget },
): void => {
  const tooMuch = unitsOf(kind, neededWei).find((wei) => wei > budget.operationWei);
  if (tooMuch === undefined) return;
  throw aboveOperationBudget(deps.registry.get(chainId), {
    neededWei: tooMuch,
    operationWei: budget.operationWei,
  });
};

export const refuseDay = async (
  deps: SponsorshipDeps,
  db: SqlReader,
  at: { projectId: string; chainId: number; day: Date },
  { neededWei, dailyWei }: { neededWei: bigint; dailyWei: bigint },
): Promise<Error> => {
  const usage = (await readUsage(db, at.projectId, dayText(at.day))).get(at.chainId);
  return dailyBudgetUsed(deps.registry.get(at.chainId), {
    neededWei,
    dailyWei,
    remainingWei: remainingOf(dailyWei, usage),
    resetsAt: resetOf(at.day),
  });
};

export const NOTHING_USED: Usage = { reservedWei: 0n, usedWei: 0n };

/** The free part of a budget in wei. 0 when the limit was lowered below the used amount. */
export const remainingOf = (dailyWei: bigint, usage: Usage = NOTHING_USED): bigint => {
  const left = dailyWei - usage.reservedWei - usage.usedWei;
  return left > 0n ? left : 0n;
};

// Makes, changes and ends reservations of the sponsor's budgets, in the transactions that change
// the legs to which the reservations belong.

/**
 * Reserves the costs, in the transaction that stores the legs with their reservations. Call this
 * after all other locks of the transaction were taken, because all other operations of the project
 * wait until the transaction ends.
 * @throws DomainError `sponsor_budget_exceeded`
 */
export const reserveCosts = async (
  deps: SponsorshipDeps,
  db: Sql,
  { projectId, kind, costs }: OperationCosts,
  now: Date,
): Promise<void> => {
  const day = dayOf(now);
  for (const [chainId, each] of byChain(costs)) {
    const neededWei = each.map(({ maxWei }) => maxWei);
    const [total, key] = [sum(neededWei), { projectId, chainId, day: dayText(day) }];
    const largestWei = unitsOf(kind, neededWei).reduce(
      (most, wei) => (wei > most ? wei : most),
      0n,
    );
    const otherwise = defaultBudgetOf(deps.registry.get(chainId));
    if (await reserveWithin(db, key, { wei: total, largestWei, otherwise })) continue;
    // Read only to tell the caller which limit is exceeded.
    const budget = (await budgetsOf(deps, db, projectId))(chainId);
    requireOperationBudget(deps, chainId, { kind, neededWei, budget });
    throw await refuseDay(
      deps,
      db,
      { projectId, chainId, day },
      { neededWei: total, dailyWei: budget.dailyWei },
    );
  }
};

/**
 * The budget to which the changes belong; null when no change raises its reservation.
 * @throws DomainError `sponsor_budget_exceeded` when a raised reservation exceeds the limit per
 * operation
 */
const budgetFor = async (
  deps: SponsorshipDeps,
  db: SqlReader,
  changes: readonly ReservationChange[],
): Promise<Budget | null> => {
  const [first] = changes;
  const raised = changes.flatMap((change) =>
    "toWei" in change && change.toWei > change.reservation.reservedWei ? [change] : [],
  );
  if (first === undefined || raised.length === 0) return null;
  const { projectId, chainId } = first.reservation;
  const budget = (await budgetsOf(deps, db, projectId))(chainId);
  for (const { toWei, operation } of raised)
    requireOperationBudget(deps, chainId, {
      kind: operation.kind,
      neededWei: [toWei, operation.othersWei],
      budget,
    });
  return budget;
};

const differenceOf = (change: ReservationChange): bigint =>
  ("toWei" in change ? change.toWei : 0n) - change.reservation.reservedWei;

/**
 * Groups changes by budget, sorted by project, chain and day. All transactions lock budgets in this
 * order, which prevents deadlocks.
 */
const byBudget = (changes: readonly ReservationChange[]) => {
  const nameOf = ({ reservation: { projectId, chainId, day } }: ReservationChange): string =>
    `${projectId}:${String(chainId).padStart(20, "0")}:${dayText(day)}`;
  return [...new Set(changes.map(nameOf))].sort().flatMap((name) => {
    const own = changes.filter((change) => nameOf(change) === name);
    const [first] = own;
    if (first === undefined) return [];
    const { projectId, chainId, day } = first.reservation;
    const key = { projectId, chainId, day: dayText(day) };
    const freed = sum(own.map(differenceOf).filter((wei) => wei < 0n));
    const spentWei = sum(own.map((one) => ("toWei" in one ? 0n : one.spentWei)));
    return [{ own, key, day, freeing: { wei: -freed, spentWei } }];
  });
};

/**
 * Ends and changes reservations, in the transaction that changes their legs, with at most three
 * statements per budget. Amounts that one reservation frees are available to the others.
 * @throws DomainError `sponsor_budget_exceeded` when a budget does not cover the sum
 */
export const changeReservations = async (
  deps: SponsorshipDeps,
  db: Sql,
  changes: readonly ReservationChange[],
): Promise<void> => {
  for (const { own, key, day, freeing } of byBudget(changes)) {
    if (freeing.wei > 0n || freeing.spentWei > 0n) await release(db, key, freeing);
    const more = sum(own.map(differenceOf).filter((wei) => wei > 0n));
    const budget = await budgetFor(deps, db, own);
    if (budget === null || (await reserve(db, key, more, budget.dailyWei))) continue;
    throw await refuseDay(
      deps,
      db,
      { ...key, day },
      { neededWei: more, dailyWei: budget.dailyWei },
    );
  }
};

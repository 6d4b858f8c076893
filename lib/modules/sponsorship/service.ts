import { bindDeps } from "@/lib/core/bind-deps";
import { TRANSACTION_GAS_MAX, transactionGasAlone } from "@/lib/chains/erc4337/gas-limits";
import { gasTotalOf } from "@/lib/chains/erc4337/user-operation";
import type { Clock } from "@/lib/core/clock";
import type { Database, Tx } from "@/lib/db/client";
import { recordAudit } from "@/lib/modules/audit/service";
import { sqlOf, type Sql, type SqlReader } from "@/lib/db/sql";
import type { UserOperation, UserOperationGas } from "@/lib/ports/bundler";
import { budgetAt, budgetsOf, type EffectiveBudget } from "./effective-budget";
import { aboveCeiling, aboveOperationBudget, aboveTransactionLimit, dailyBudgetUsed } from "./errors";
import {
  ceilingOf,
  defaultBudgetOf,
  isSponsored,
  type Budget,
  type SponsoredChain,
  type SponsoredKind,
} from "./limits";
import type { Reservation, ReservationChange } from "./reservation";
import {
  readBudgets,
  readLimits,
  readUsage,
  release,
  reserve,
  reserveWithin,
  writeBudget,
  type Usage,
} from "./repository";

export type { Reservation, ReservationChange } from "./reservation";

export interface SponsorshipDeps {
  readonly database: Database;
  readonly registry: { get(chainId: number): SponsoredChain; list(): readonly SponsoredChain[] };
  readonly clock: Clock;
  /** The price at which an operation would be signed now, in wei per gas. @throws DomainError `chain_unavailable` */
  readonly maxFeePerGas: (chainId: number) => Promise<bigint>;
}

/** A leg that a smart account executes. */
export interface SponsoredLeg {
  readonly legId: string;
  readonly chainId: number;
  readonly gas: UserOperationGas;
  /** The user operation, if it exists already. Its price and paymaster are then used. */
  readonly operation?: UserOperation;
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

/** The sponsor's budget for a project on one chain, today. */
export interface SponsorBudget extends EffectiveBudget, Usage {
  readonly chain: SponsoredChain;
  readonly remainingWei: bigint;
  readonly resetsAt: Date;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Midnight UTC at which the day of `at` begins. */
export const dayOf = (at: Date): Date => new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
const dayText = (day: Date): string => day.toISOString().slice(0, 10);
const resetOf = (day: Date): Date => new Date(day.getTime() + DAY_MS);

/** The highest cost of an operation with these gas limits at this price, in wei. */
const costOf = (gas: UserOperationGas | UserOperation, maxFeePerGas: bigint): bigint => gasTotalOf(gas) * maxFeePerGas;

/** The highest cost of an operation to the sponsor, in wei; null when the account pays for itself. */
export const sponsoredCostOf = (operation: UserOperation): bigint | null =>
  operation.paymaster === undefined ? null : costOf(operation, operation.maxFeePerGas);

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

const byChain = (costs: readonly GasCost[]): [number, readonly GasCost[]][] =>
  [...new Set(costs.map(({ chainId }) => chainId))]
    // All transactions lock budgets in this order, which prevents deadlocks.
    .sort((one, other) => one - other)
    .map((chainId) => [chainId, costs.filter((cost) => cost.chainId === chainId)]);

/** The parts of the costs to which the limit of an operation applies. */
const unitsOf = (kind: string, neededWei: readonly bigint[]): readonly bigint[] =>
  kind === "payout" ? neededWei : [sum(neededWei)];

const requireOperationBudget = (
  deps: SponsorshipDeps,
  chainId: number,
  { kind, neededWei, budget }: { kind: string; neededWei: readonly bigint[]; budget: Budget },
): void => {
  const tooMuch = unitsOf(kind, neededWei).find((wei) => wei > budget.operationWei);
  if (tooMuch === undefined) return;
  throw aboveOperationBudget(deps.registry.get(chainId), { neededWei: tooMuch, operationWei: budget.operationWei });
};

const refuseDay = async (
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

/**
 * Refuses an operation whose gas limit is too high for any transaction, or above the sponsor's ceiling.
 * @throws DomainError `sponsor_budget_exceeded`, `simulation_failed`
 */
const checkGas = (
  deps: SponsorshipDeps,
  input: { chainId: number; kind: SponsoredKind; gas: UserOperationGas },
): void => {
  const chain = deps.registry.get(input.chainId);
  const sponsored = isSponsored(chain);
  const gas = transactionGasAlone(input.gas, { isSponsored: sponsored });
  if (sponsored) {
    const ceiling = ceilingOf(chain, input.kind);
    if (gas > ceiling) throw aboveCeiling(chain, { kind: input.kind, gas, ceiling });
  }
  if (gas > TRANSACTION_GAS_MAX) throw aboveTransactionLimit(chain, gas, TRANSACTION_GAS_MAX);
};

/** Refuses a transaction that a wallet pays for itself, when its gas limit is too high. @throws DomainError `simulation_failed` */
const checkTransactionGas = (
  deps: SponsorshipDeps,
  { chainId, gas }: { chainId: number; gas: readonly bigint[] },
): void => {
  const tooMuch = gas.find((each) => each > TRANSACTION_GAS_MAX);
  if (tooMuch !== undefined) throw aboveTransactionLimit(deps.registry.get(chainId), tooMuch, TRANSACTION_GAS_MAX);
};

/** The most that the sponsor pays for each sponsored leg, in wei. @throws DomainError `chain_unavailable`, `unsupported_chain` */
const costsOf = async (deps: SponsorshipDeps, legs: readonly SponsoredLeg[]): Promise<GasCost[]> => {
  const costs = await Promise.all(
    legs.map(async ({ legId, chainId, gas, operation }): Promise<GasCost | null> => {
      if (operation !== undefined) {
        const maxWei = sponsoredCostOf(operation);
        return maxWei === null ? null : { legId, chainId, maxWei };
      }
      if (!isSponsored(deps.registry.get(chainId))) return null;
      return { legId, chainId, maxWei: costOf(gas, await deps.maxFeePerGas(chainId)) };
    }),
  );
  return costs.filter((cost) => cost !== null);
};

/**
 * Checks that the budgets cover the costs now. Reserves nothing, so `reserve` may still refuse the operation later.
 * @throws DomainError `sponsor_budget_exceeded`
 */
const check = async (deps: SponsorshipDeps, { projectId, kind, costs }: OperationCosts): Promise<void> => {
  if (costs.length === 0) return;
  const sql = sqlOf(deps.database.prisma);
  const day = dayOf(deps.clock.now());
  const { budgets, usage } = await readLimits(sql, projectId, dayText(day));
  for (const [chainId, each] of byChain(costs)) {
    const budget = budgetAt(deps, budgets, chainId);
    const neededWei = each.map(({ maxWei }) => maxWei);
    requireOperationBudget(deps, chainId, { kind, neededWei, budget });
    if (sum(neededWei) <= remainingOf(budget.dailyWei, usage.get(chainId))) continue;
    throw await refuseDay(
      deps,
      sql,
      { projectId, chainId, day },
      { neededWei: sum(neededWei), dailyWei: budget.dailyWei },
    );
  }
};

/**
 * Reserves the costs, in the transaction that stores the legs with their reservations.
 * @throws DomainError `sponsor_budget_exceeded`
 */
const reserveCosts = async (
  deps: SponsorshipDeps,
  tx: Tx,
  { projectId, kind, costs }: OperationCosts,
  now: Date,
): Promise<void> => {
  if (costs.length === 0) return;
  const sql = sqlOf(tx);
  const day = dayOf(now);
  for (const [chainId, each] of byChain(costs)) {
    const neededWei = each.map(({ maxWei }) => maxWei);
    const [total, key] = [sum(neededWei), { projectId, chainId, day: dayText(day) }];
    const largestWei = unitsOf(kind, neededWei).reduce((most, wei) => (wei > most ? wei : most), 0n);
    const otherwise = defaultBudgetOf(deps.registry.get(chainId));
    if (await reserveWithin(sql, key, { wei: total, largestWei, otherwise })) continue;
    // The limits are read to say which of them it exceeds.
    const budget = (await budgetsOf(deps, sql, projectId))(chainId);
    requireOperationBudget(deps, chainId, { kind, neededWei, budget });
    throw await refuseDay(deps, sql, { projectId, chainId, day }, { neededWei: total, dailyWei: budget.dailyWei });
  }
};

/** Refuses the changes that need more than an operation may cost. @returns the budget, null when none needs more than it has */
const budgetFor = async (
  deps: SponsorshipDeps,
  sql: SqlReader,
  changes: readonly ReservationChange[],
): Promise<Budget | null> => {
  const [first] = changes;
  const raised = changes.flatMap((change) =>
    "toWei" in change && change.toWei > change.reservation.reservedWei ? [change] : [],
  );
  if (first === undefined || raised.length === 0) return null;
  const { projectId, chainId } = first.reservation;
  const budget = (await budgetsOf(deps, sql, projectId))(chainId);
  for (const { toWei, operation } of raised)
    requireOperationBudget(deps, chainId, { kind: operation.kind, neededWei: [toWei, operation.othersWei], budget });
  return budget;
};

/**
 * Ends and changes reservations, in the transaction that changes their legs; at most three statements for each budget. What
 * some free is there for the others.
 * @throws DomainError `sponsor_budget_exceeded` when a budget does not cover the sum
 */
const changeReservations = async (
  deps: SponsorshipDeps,
  sql: Sql,
  changes: readonly ReservationChange[],
): Promise<void> => {
  const nameOf = ({ reservation: { projectId, chainId, day } }: ReservationChange): string =>
    `${projectId}:${String(chainId).padStart(20, "0")}:${dayText(day)}`;
  // All transactions lock the budgets of a project in this order, which prevents deadlocks.
  for (const name of [...new Set(changes.map(nameOf))].sort()) {
    const own = changes.filter((change) => nameOf(change) === name);
    const [first] = own;
    if (first === undefined) continue;
    const { projectId, chainId, day } = first.reservation;
    const key = { projectId, chainId, day: dayText(day) };
    const differences = own.map((one) => ("toWei" in one ? one.toWei : 0n) - one.reservation.reservedWei);
    const freed = sum(differences.filter((wei) => wei < 0n));
    const spentWei = sum(own.map((one) => ("toWei" in one ? 0n : one.spentWei)));
    if (freed < 0n || spentWei > 0n) await release(sql, key, { wei: -freed, spentWei });
    const more = sum(differences.filter((wei) => wei > 0n));
    const budget = await budgetFor(deps, sql, own);
    if (budget === null || (await reserve(sql, key, more, budget.dailyWei))) continue;
    throw await refuseDay(deps, sql, { projectId, chainId, day }, { neededWei: more, dailyWei: budget.dailyWei });
  }
};

/** Limits and counts the network fees that the sponsor pays for a project's operations. Amounts in wei. */
export const createSponsorshipService = (deps: SponsorshipDeps) => ({
  /** Whether the sponsor pays the fees of smart accounts on the chain. @throws DomainError `unsupported_chain` */
  pays: (chainId: number): boolean => isSponsored(deps.registry.get(chainId)),
  checkGas: bindDeps(deps, checkGas),
  checkTransactionGas: bindDeps(deps, checkTransactionGas),
  costsOf: bindDeps(deps, costsOf),
  check: bindDeps(deps, check),
  reserve: bindDeps(deps, reserveCosts),
  /**
   * Changes one reservation, as `changeReservations`.
   * @throws DomainError `sponsor_budget_exceeded` when the budgets do not cover the difference
   */
  adjust: (
    tx: Tx,
    reservation: Reservation,
    to: { toWei: bigint; operation: { kind: string; othersWei: bigint } },
  ): Promise<void> => changeReservations(deps, sqlOf(tx), [{ reservation, ...to }]),
  changeReservations: bindDeps(deps, changeReservations),

  /** Ends reservations, in the transaction that ends their legs. `spentWei` of each counts as spent; the rest is free again. */
  settle: async (tx: Tx, ended: readonly (Reservation & { readonly spentWei: bigint })[]): Promise<void> => {
    const changes = ended.map(({ spentWei, ...reservation }) => ({ reservation, spentWei }));
    await changeReservations(deps, sqlOf(tx), changes);
  },

  /** The project's budgets and their use today, for every chain on which the sponsor pays. */
  budgets: async (projectId: string): Promise<SponsorBudget[]> => {
    const sql = sqlOf(deps.database.prisma);
    const day = dayOf(deps.clock.now());
    const { budgets, usage } = await readLimits(sql, projectId, dayText(day));
    return deps.registry
      .list()
      .filter(isSponsored)
      .map((chain) => {
        const budget = budgetAt(deps, budgets, chain.id);
        const { reservedWei, usedWei } = usage.get(chain.id) ?? NOTHING_USED;
        const remainingWei = remainingOf(budget.dailyWei, { reservedWei, usedWei });
        return { chain, ...budget, reservedWei, usedWei, remainingWei, resetsAt: resetOf(day) };
      });
  },

  /** Sets the operator's limits for a project, in wei; null restores the configured limit. False when the project does not exist. */
  setBudget: (
    at: { projectId: string; chainId: number },
    budget: { readonly [K in keyof Budget]: bigint | null },
  ): Promise<boolean> =>
    deps.database.transaction(async (tx) => {
      const now = deps.clock.now();
      if (!(await writeBudget(sqlOf(tx), at, budget, now))) return false;
      const data = {
        dailyWei: budget.dailyWei?.toString() ?? null,
        operationWei: budget.operationWei?.toString() ?? null,
      };
      const subject = `chain:${String(at.chainId)}`;
      const entry = { projectId: at.projectId, actor: "operator", action: "sponsor_budget.set", subject };
      await recordAudit(tx, { ...entry, data, at: now });
      return true;
    }),

  /** The limits that the operator has set for a project, by chain id; null: the configured limit applies. */
  operatorBudgets: (projectId: string) => readBudgets(sqlOf(deps.database.prisma), projectId),
});

const NOTHING_USED: Usage = { reservedWei: 0n, usedWei: 0n };

/** The free part of a budget in wei; 0 when the limit was lowered below the used amount. */
const remainingOf = (dailyWei: bigint, usage: Usage = NOTHING_USED): bigint => {
  const left = dailyWei - usage.reservedWei - usage.usedWei;
  return left > 0n ? left : 0n;
};

export type SponsorshipService = ReturnType<typeof createSponsorshipService>;

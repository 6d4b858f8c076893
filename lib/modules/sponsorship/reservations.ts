/** Reservations of the sponsor's budgets, made, changed and ended in the transactions of those who hold them. */
import type { Sql, SqlReader } from "@/lib/db/sql";
import { changeAndJudge, type JudgedPart } from "@/lib/db/together";
import {
  byChain,
  dayOf,
  dayText,
  refuseDay,
  requireOperationBudget,
  sum,
  unitsOf,
  type OperationCosts,
  type SponsorshipDeps,
} from "./budgets";
import { budgetsOf } from "./effective-budget";
import { defaultBudgetOf, type Budget } from "./limits";
import type { ReservationChange } from "./reservation";
import { releasePart, reserve, reserveWithin } from "./repository";

/**
 * Reserves the costs, as parts of the statement that stores the legs with their reservations. All who spend of a project's budget wait for
 * each other from then on, so these are the last locks of the transaction.
 * @param sql of the transaction, from which a refusal reads the limits
 */
export const reservationParts = (
  deps: SponsorshipDeps,
  sql: SqlReader,
  { projectId, kind, costs }: OperationCosts,
  now: Date,
): JudgedPart[] => {
  const day = dayOf(now);
  return byChain(costs).map(([chainId, each]) => {
    const neededWei = each.map(({ maxWei }) => maxWei);
    const [total, key] = [sum(neededWei), { projectId, chainId, day: dayText(day) }];
    const largestWei = unitsOf(kind, neededWei).reduce((most, wei) => (wei > most ? wei : most), 0n);
    const otherwise = defaultBudgetOf(deps.registry.get(chainId));
    const judge = async (rows: readonly unknown[]): Promise<void> => {
      if (rows.length === 1) return;
      // The limits are read to say which of them it exceeds.
      const budget = (await budgetsOf(deps, sql, projectId))(chainId);
      requireOperationBudget(deps, chainId, { kind, neededWei, budget });
      throw await refuseDay(deps, sql, { projectId, chainId, day }, { neededWei: total, dailyWei: budget.dailyWei });
    };
    return { ...reserveWithin(key, { wei: total, largestWei, otherwise }), judge };
  });
};

/**
 * Reserves the costs, in the transaction that stores the legs with their reservations.
 * @throws DomainError `sponsor_budget_exceeded`
 */
export const reserveCosts = async (
  deps: SponsorshipDeps,
  sql: Sql,
  costs: OperationCosts,
  now: Date,
): Promise<void> => {
  const parts = reservationParts(deps, sql, costs, now);
  if (parts.length > 0) await changeAndJudge(sql, parts);
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

const differenceOf = (change: ReservationChange): bigint =>
  ("toWei" in change ? change.toWei : 0n) - change.reservation.reservedWei;

/** The changes of each budget, in the order in which all transactions lock the budgets of a project, which prevents deadlocks. */
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
    const isFreeing = freed < 0n || spentWei > 0n;
    return [{ own, key, day, freeing: isFreeing ? releasePart(key, { wei: -freed, spentWei }) : null }];
  });
};

/**
 * Ends and changes reservations, in the transaction that changes their legs; at most three statements for each budget. The
 * amounts that some reservations free are there for the others.
 * @throws DomainError `sponsor_budget_exceeded` when a budget does not cover the sum
 */
export const changeReservations = async (
  deps: SponsorshipDeps,
  sql: Sql,
  changes: readonly ReservationChange[],
): Promise<void> => {
  for (const { own, key, day, freeing } of byBudget(changes)) {
    if (freeing !== null) await changeAndJudge(sql, [freeing]);
    const more = sum(own.map(differenceOf).filter((wei) => wei > 0n));
    const budget = await budgetFor(deps, sql, own);
    if (budget === null || (await reserve(sql, key, more, budget.dailyWei))) continue;
    throw await refuseDay(deps, sql, { ...key, day }, { neededWei: more, dailyWei: budget.dailyWei });
  }
};

/**
 * Splits changes: where none of them needs more than it has, they are parts of one statement, and otherwise `rest` for
 * `changeReservations`. Budgets are locked in one order either way.
 */
export const freeingParts = (
  changes: readonly ReservationChange[],
): { readonly parts: readonly JudgedPart[]; readonly rest: readonly ReservationChange[] } =>
  changes.some((change) => differenceOf(change) > 0n)
    ? { parts: [], rest: changes }
    : { parts: byBudget(changes).flatMap(({ freeing }) => freeing ?? []), rest: [] };

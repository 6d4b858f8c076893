/** The limits that apply to a project: the operator's or the configured ones, and below them the project's own. */
import type { SqlReader } from "@/lib/db/sql";
import { defaultBudgetOf, type Budget, type SponsoredChain } from "./limits";
import { readBudgets, type OwnBudget, type StoredBudget } from "./repository";

interface Chains {
  readonly registry: { get(chainId: number): SponsoredChain };
}

/** Limits of a project on one chain. */
export interface EffectiveBudget extends Budget {
  /** The most that the project can set for itself: the operator's limits. */
  readonly ceiling: Budget;
  /** The limits that the project has set for itself. */
  readonly own: OwnBudget;
}

const lower = (own: bigint | null, ceiling: bigint): bigint => (own !== null && own < ceiling ? own : ceiling);

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

export const budgetsOf = async (
  deps: Chains,
  sql: SqlReader,
  projectId: string,
): Promise<(chainId: number) => Budget> => {
  const own = await readBudgets(sql, projectId);
  return (chainId) => budgetAt(deps, own, chainId);
};

import { base, int, nullable, type RowOf, table } from "@/lib/platform/db/table";

// The tables of this module.

/** Table `sponsor_usage`: what a project has reserved and spent on one UTC day, in wei. */
export const usages = table({ chainId: int, reservedWei: base, usedWei: base });

export type Usage = Omit<RowOf<typeof usages>, "chainId">;

const BUDGET = {
  chainId: int,
  /** The operator's limits; null when the configured ones apply. */
  dailyWei: nullable(base),
  operationWei: nullable(base),
  /** The project's own limits; null when only the operator's apply. */
  ownDailyWei: nullable(base),
  ownOperationWei: nullable(base),
};

/** Table `sponsor_budget`: the limits of a project on a chain. */
export const budgets = table(BUDGET);

/** The budget and the usage of a chain, of which one may be missing. */
export const limits = table({
  ...BUDGET,
  reservedWei: nullable(base),
  usedWei: nullable(base),
});

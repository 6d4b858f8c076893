import { base, int, nullable, type RowOf, table } from "@/lib/platform/db/table";

/**
 * Table `sponsor_usage`: the amounts that a project has reserved and spent on one UTC day, in wei.
 */
export const usages = table({ chainId: int, reservedWei: base, usedWei: base });

export type Usage = Omit<RowOf<typeof usages>, "chainId">;

const BUDGET = {
  chainId: int,
  /** The operator's limits; null when the configured ones apply. */
  dailyWei: nullable(base),
  operationWei: nullable(base),
  /** The project's own limits; null when it has set none. */
  ownDailyWei: nullable(base),
  ownOperationWei: nullable(base),
};

export const budgets = table(BUDGET);

export const limits = table({
  ...BUDGET,
  reservedWei: nullable(base),
  usedWei: nullable(base),
});

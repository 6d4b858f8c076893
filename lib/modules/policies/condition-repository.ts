import type { JudgedPart, StatementPart } from "@/lib/db/together";
import { PoliciesChangedError } from "./errors";

/**
 * A part of the statement that accepts a movement. It checks that the policies are still those that were evaluated.
 * @param condition of the evaluation; null: no part is needed
 * @throws PoliciesChangedError in the judgement, where they are not
 */
export const conditionParts = (condition: StatementPart | null): JudgedPart[] => {
  if (condition === null) return [];
  const judge = (rows: readonly unknown[]): void => {
    if (rows.length === 0) throw new PoliciesChangedError();
  };
  return [{ text: `SELECT 1 AS held WHERE ${condition.text}`, values: condition.values, judge }];
};

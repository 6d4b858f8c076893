import type { JudgedPart, StatementPart } from "@/lib/db/together";
import { PoliciesChangedError } from "./errors";

/** The condition of an evaluation, as a part that decides about the statement it is in: the judgement throws `PoliciesChangedError`. */
export const conditionParts = (condition: StatementPart | null): JudgedPart[] => {
  if (condition === null) return [];
  const judge = (rows: readonly unknown[]): void => {
    if (rows.length === 0) throw new PoliciesChangedError();
  };
  return [{ text: `SELECT 1 AS held WHERE ${condition.text}`, values: condition.values, judge }];
};

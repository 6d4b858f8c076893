import { expect, test } from "vitest";
import { lowBudgets } from "./low-budgets";

const budget = (dailyLimit: string, remaining: string) => ({ dailyLimit, remaining });

test("a sponsor budget is low when less than a tenth of it is left today", () => {
  const low = [budget("1", "0.0999"), budget("1", "0")];
  expect(lowBudgets([budget("1", "0.1"), ...low, budget("0.5", "0.5")])).toEqual(low);
});

test("a project that lets its sponsor pay for nothing has no low budget", () => {
  expect(lowBudgets([budget("0", "0")])).toEqual([]);
});

import { expect, test } from "vitest";
import { someAddUpTo } from "./refund";

test("a refund that sums several deposits up is recognised by them", () => {
  expect(someAddUpTo(0n, [])).toBe(true);
  expect(someAddUpTo(7n, [2n, 3n, 5n])).toBe(true);
  expect(someAddUpTo(10n, [2n, 3n, 5n])).toBe(true);
  expect(someAddUpTo(6n, [2n, 3n, 5n])).toBe(false);
  expect(someAddUpTo(1n, [])).toBe(false);
});

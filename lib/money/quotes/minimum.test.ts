import { expect, test } from "vitest";
import type { Route } from "@/lib/money/ports/routing";
import { minimumOut, withMinimum } from "./price-check";

const SLIPPAGE_BPS = 50;

const routeOf = (expectedOutBase: bigint, minOutBase: bigint): Route => ({
  legs: [{ expectedOutBase, minOutBase }] as unknown as Route["legs"],
});

test("a route priced again keeps the minimum while at least 10 basis points of tolerance are left", () => {
  const kept = withMinimum(routeOf(1_000_000n, 995_000n), 999_000n, SLIPPAGE_BPS);
  expect(kept === null ? null : minimumOut(kept)).toBe(999_000n);
  expect(withMinimum(routeOf(1_000_000n, 995_000n), 999_001n, SLIPPAGE_BPS)).toBeNull();
});

test("a route whose result cannot change needs no tolerance", () => {
  expect(withMinimum(routeOf(1_000_000n, 1_000_000n), 1_000_000n, SLIPPAGE_BPS)).not.toBeNull();
  expect(withMinimum(routeOf(1_000_000n, 1_000_000n), 1_000_001n, SLIPPAGE_BPS)).toBeNull();
});

test("less slippage than 20 basis points leaves half of it as tolerance", () => {
  expect(withMinimum(routeOf(1_000_000n, 999_000n), 999_500n, 10)).not.toBeNull();
  expect(withMinimum(routeOf(1_000_000n, 999_000n), 999_501n, 10)).toBeNull();
});

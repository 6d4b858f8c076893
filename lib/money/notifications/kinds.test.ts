import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { GAS_LOW_OPERATIONS } from "@/lib/chain/gas-balances";
import { nextDaily } from "@/lib/core/clock";

test.each([
  ["2026-03-01T06:59:59.999Z", "2026-03-01T07:00:00.000Z"],
  ["2026-03-01T07:00:00.000Z", "2026-03-02T07:00:00.000Z"],
  ["2026-12-31T23:00:00.000Z", "2027-01-01T07:00:00.000Z"],
])("after %s the mails of the day go out at %s", (now, next) => {
  expect(nextDaily(new Date(now)).toISOString()).toBe(next);
});

test("people are told of low coins at the bound at which the alert fires", () => {
  const rules = readFileSync("ops/prometheus/rules.yml", "utf8");
  const bounds = [
    ...rules.matchAll(/causeway_(?:executor|paymaster)_gas_operations\) < ([\d.]+)/g),
  ];
  expect(bounds.map(([, bound]) => Number(bound))).toEqual([
    GAS_LOW_OPERATIONS,
    GAS_LOW_OPERATIONS,
  ]);
});

import { expect, test } from "vitest";
import { DATE_PRESETS, isDay, isFiltered, NO_FILTERS, toListQuery } from "./filter-model";

test("without filters everything is asked for, and an empty search is none", () => {
  expect(toListQuery(NO_FILTERS)).toEqual({});
  expect(toListQuery({ ...NO_FILTERS, q: "  " })).toEqual({});
  expect(isFiltered(NO_FILTERS)).toBe(false);
  expect(isFiltered({ ...NO_FILTERS, chain: [1] })).toBe(true);
  expect(isFiltered({ ...NO_FILTERS, status: [] })).toBe(false);
});

test("each filter reaches the API under its own name", () => {
  const filters = {
    ...NO_FILTERS,
    status: ["failed", "refunded"],
    kind: ["transfer"],
    chain: [31337, 31338],
    wallet: ["wal_1", "wal_2"],
    q: " USDC ",
    tag: "Payroll",
  } as const;
  expect(toListQuery(filters)).toEqual({
    status: "failed,refunded",
    kind: "transfer",
    chainId: "31337,31338",
    walletId: "wal_1,wal_2",
    q: "USDC",
    tag: "Payroll",
  });
});

test("both days are included whole, in the zone of whoever asks", () => {
  const { from, to } = toListQuery({ ...NO_FILTERS, from: "2026-02-28", to: "2026-02-28" });
  expect(from).toBe(new Date(2026, 1, 28).toISOString());
  expect(to).toBe(new Date(2026, 2, 1).toISOString());
});

test("what is no day narrows nothing", () => {
  for (const text of ["2026-02-31", "2026-13-01", "yesterday", "2026-1-1", ""])
    expect(isDay(text), text).toBe(false);
  expect(isDay("2028-02-29")).toBe(true);
  expect(toListQuery({ ...NO_FILTERS, from: "2026-02-31" })).toEqual({});
});

const now = new Date(2028, 2, 31, 15, 30);

test.each([
  ["Today", "2028-03-31", "2028-03-31"],
  ["Last 7 days", "2028-03-25", "2028-03-31"],
  ["Last 30 days", "2028-03-02", "2028-03-31"],
  ["This month", "2028-03-01", "2028-03-31"],
  ["Last month", "2028-02-01", "2028-02-29"],
  ["This year", "2028-01-01", "2028-12-31"],
])("%s is %s to %s", (label, from, to) => {
  expect(DATE_PRESETS.find((preset) => preset.label === label)?.range(now)).toEqual({
    from,
    to,
  });
});

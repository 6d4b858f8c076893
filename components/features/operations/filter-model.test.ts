import { expect, test } from "vitest";
import { isDay, isFiltered, LISTED_KINDS, NO_FILTERS, toListQuery } from "./filter-model";

/** Private operations are on a page of their own. */
const ALWAYS = { private: "exclude" };

test("without filters everything but private operations is asked for, and an empty search is none", () => {
  expect(toListQuery(NO_FILTERS)).toEqual(ALWAYS);
  expect(toListQuery({ ...NO_FILTERS, q: "  " })).toEqual(ALWAYS);
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
    ...ALWAYS,
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

test("kinds that only the private page shows cannot be chosen", () => {
  expect(LISTED_KINDS).toEqual(["swap", "transfer", "swap_and_transfer", "deposit"]);
});

test("what is no day narrows nothing", () => {
  for (const text of ["2026-02-31", "2026-13-01", "yesterday", "2026-1-1", ""]) expect(isDay(text), text).toBe(false);
  expect(isDay("2028-02-29")).toBe(true);
  expect(toListQuery({ ...NO_FILTERS, from: "2026-02-31" })).toEqual(ALWAYS);
});

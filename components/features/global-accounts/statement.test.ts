import { expect, test } from "vitest";
import type { Statement } from "./account";
import { periodOf, statementPdf } from "./statement";

const AT = "2026-11-25T10:00:00.000Z";
const account: Statement["account"] = {
  id: "ga_1",
  currency: "USDC",
  assetId: "usdc",
  decimals: 6,
  name: "Payroll",
  status: "active",
  statusReason: null,
  balance: { available: "7", pending: "0", posted: "7" },
  version: 2,
  createdAt: AT,
};
const entry = (
  seq: number,
  amount: string,
  balanceAfter: string,
): Statement["entries"][number] => ({
  seq,
  transactionId: `ltx_${String(seq)}`,
  kind: "payout",
  amount,
  balanceAfter,
  reference: `INV-${String(seq)}`,
  counterpartyId: null,
  counterpartyName: null,
  payoutId: null,
  reverses: null,
  reversedBy: null,
  createdAt: AT,
});

test("the PDF has every entry with its running balance, between the opening and the closing balance", () => {
  const entries = [entry(1, "10.000001", "10.000001"), entry(2, "-3.000001", "7")];
  const file = statementPdf(
    {
      account,
      from: AT,
      to: AT,
      opening: "0",
      entries,
      truncated: false,
      in: "10.000001",
      out: "3.000001",
      closing: "7",
    },
    new Date(AT),
  );
  const lines = [...file.matchAll(/\(((?:[^()\\]|\\.)*)\) Tj/g)].map(([, line]) => line ?? "");
  const at = (text: string): number => lines.findIndex((line) => line.includes(text));
  expect(lines[0]).toBe("Statement of Payroll");
  expect(lines[at("INV-1")]).toMatch(/10\.000001 +10\.000001 +USDC +$/);
  expect(lines[at("INV-2")]).toMatch(/-3\.000001 +7 +USDC +$/);
  expect(at("Opening balance")).toBeLessThan(at("INV-1"));
  expect(at("Closing balance")).toBeGreaterThan(at("INV-2"));
});

const NOW = new Date("2026-01-15T23:30:00-05:00");
const NONE = { from: null, to: null };

test("the period of a statement begins with the first day of this month, in UTC", () => {
  expect(periodOf("this-month", NONE, NOW)).toEqual({ from: "2026-01-01T00:00:00.000Z" });
});

test("the period of a statement may be the whole month before, also over the turn of the year", () => {
  expect(periodOf("last-month", NONE, NOW)).toEqual({
    from: "2025-12-01T00:00:00.000Z",
    to: "2026-01-01T00:00:00.000Z",
  });
});

test("the period of a statement includes both chosen days whole", () => {
  expect(periodOf("custom", { from: "2026-02-27", to: "2026-02-28" }, NOW)).toEqual({
    from: "2026-02-27T00:00:00.000Z",
    to: "2026-03-01T00:00:00.000Z",
  });
});

test("there is no period where a day is missing or invalid, or the last day comes before the first", () => {
  for (const days of [
    NONE,
    { from: "2026-02-01", to: null },
    { from: "2026-02-31", to: "2026-03-02" },
    { from: "2026-03-02", to: "2026-03-01" },
  ])
    expect(periodOf("custom", days, NOW)).toBeNull();
});

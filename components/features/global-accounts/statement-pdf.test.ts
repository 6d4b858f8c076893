import { expect, test } from "vitest";
import type { Statement } from "./account";
import { statementPdf } from "./statement-pdf";

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
const entry = (seq: number, amount: string, balanceAfter: string): Statement["entries"][number] => ({
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

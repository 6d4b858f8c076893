import { expect, test } from "vitest";
import type { Reserves } from "@/components/features/money-flow/spendable";
import { worthOfAvailable, worthOfBacking } from "@/components/features/overview/worth";
import type { Balances, TokenTotal } from "@/components/features/overview/use-balances";
import { backingOf, withoutBacking } from "./backing";

const TREASURY = "0x00000000000000000000000000000000000000Aa";
const OTHER = "0x00000000000000000000000000000000000000bb";

// The code under test reads none of the other fields.
const place = (chainId: number, address: string, available: string) => ({ chainId, address, available });
const total = {
  assetId: "usdc",
  token: "USDC",
  decimals: 6,
  amount: "1000",
  available: "900",
  usd: "1000",
  chains: [
    { chainId: 1, amount: "800", available: "700", usd: "800" },
    { chainId: 2, amount: "200", available: "200", usd: "200" },
  ],
  breakdown: [place(1, TREASURY.toLowerCase(), "300"), place(2, TREASURY, "200"), place(1, OTHER, "400")],
} as unknown as TokenTotal;
const reserves = (fields: { liabilities: string; available: string; backs?: boolean }): Reserves =>
  [
    {
      assetId: "usdc",
      ...fields,
      chains: [
        { chainId: 1, wallet: TREASURY, backs: true },
        { chainId: 2, wallet: TREASURY, backs: fields.backs ?? true },
      ],
    },
  ] as unknown as Reserves;
const balances = { totals: [total] } as unknown as Balances;
const kept = (of: Reserves) => backingOf(balances, of).get("usdc");

test("the treasury keeps over all chains what it cannot move, and other wallets keep nothing", () => {
  const backing = backingOf(balances, reserves({ liabilities: "420", available: "80" }));
  expect(backing.get("usdc")).toBe("420");
  expect(withoutBacking(total, backing)).toMatchObject({ available: "480", backing: "420" });
  expect(worthOfBacking(balances, backing)).toBe("420");
  expect(worthOfAvailable(balances, backing)).toBe("480");
});

test("nothing is kept without accounts, and coins that back nothing are not counted", () => {
  expect(kept(reserves({ liabilities: "0", available: "0" }))).toBeUndefined();
  expect(kept([])).toBeUndefined();
  expect(kept(reserves({ liabilities: "420", available: "0", backs: false }))).toBe("300");
  expect(kept(reserves({ liabilities: "10", available: "9000" }))).toBeUndefined();
});

test("a price that is missing leaves the worth of what is kept unknown", () => {
  const unpriced = { totals: [{ ...total, usd: null }] } as unknown as Balances;
  const backing = backingOf(unpriced, reserves({ liabilities: "420", available: "80" }));
  expect(worthOfBacking(unpriced, backing)).toBeNull();
  expect(worthOfAvailable(unpriced, backing)).toBeNull();
});

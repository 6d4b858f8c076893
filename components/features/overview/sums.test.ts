import { expect, test } from "vitest";
import { byChain, chainShares, isEmpty } from "./sums";

const amounts = (amount: string, pendingIn = "0") => ({
  amount,
  amountBase: amount,
  available: amount,
  reserved: "0",
  pendingOut: "0",
  quarantined: "0",
  pendingIn,
  usd: null,
});

const part = (chainId: number, amount: string) => ({
  chainId,
  walletId: "wal_1",
  address: "0x0000000000000000000000000000000000000001" as const,
  token: { symbol: "USDC", address: "native", chainId, decimals: 6, assetId: "usdc" },
  ...amounts(amount),
});

test("the sum of a chain is that of all wallets, also of those that are not listed", () => {
  const total = {
    token: "USDC",
    assetId: "usdc",
    decimals: 6,
    ...amounts("12"),
    chains: [
      { chainId: 2, ...amounts("10") },
      { chainId: 1, ...amounts("2") },
    ],
    breakdown: [part(2, "1"), part(1, "2"), part(2, "3")],
  };
  expect(byChain(total).map(({ chainId, amount, parts }) => [chainId, amount, parts.length])).toEqual([
    [1, "2", 1],
    [2, "10", 2],
  ]);
});

test("an asset is not empty while some of it is on its way", () => {
  expect([isEmpty(amounts("0")), isEmpty(amounts("0", "5")), isEmpty(amounts("1"))]).toEqual([true, false, false]);
});

test("the shares of chains add up to 100, and are nothing where there is nothing", () => {
  expect(chainShares(["1", "1", "1"], 6)).toEqual([34, 33, 33]);
  expect(chainShares(["0.000001", "0", "0"], 6)).toEqual([100, 0, 0]);
  expect(chainShares(["0", "0"], 18)).toEqual([0, 0]);
});

import { expect, test } from "vitest";
import { byChain } from "./sums";

const part = (chainId: number, amountBase: string, decimals: number) => ({
  chainId,
  walletId: "wal_1",
  address: "0x0000000000000000000000000000000000000001" as const,
  token: { symbol: "USDC", address: "native", chainId, decimals, assetId: "usdc" },
  amount: "",
  amountBase,
  usd: null,
});

test("a token with 6 decimals here and 18 there is summed exactly per chain", () => {
  const total = {
    token: "USDC",
    assetId: "usdc",
    amount: "",
    amountBase: "",
    decimals: 6,
    usd: null,
    breakdown: [part(2, "1500000", 6), part(1, "1000000000000000001", 18), part(2, "1", 6)],
  };
  expect(byChain(total).map(({ chainId, amount }) => [chainId, amount])).toEqual([
    [1, "1.000000000000000001"],
    [2, "1.500001"],
  ]);
});

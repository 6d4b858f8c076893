import { expect, test } from "vitest";
import { sumByAsset } from "./operation-sums";

const part = (
  amount: string,
  symbol: string,
  decimals = 6,
  assetId = symbol.toLowerCase(),
) => ({
  amount,
  token: { symbol, decimals, assetId },
});

test("amounts of one asset add up exactly, also where its decimals differ", () => {
  expect(
    sumByAsset([
      part("0.1", "USDC"),
      part("2", "DAI", 18),
      part("0.200000000000000001", "USDC", 18),
    ]),
  ).toEqual([
    { assetId: "usdc", symbol: "USDC", amount: "0.300000000000000001" },
    { assetId: "dai", symbol: "DAI", amount: "2" },
  ]);
});

test("tokens that share a symbol but not the asset stay apart", () => {
  expect(sumByAsset([part("1", "USD", 6, "a"), part("1", "USD", 6, "b")])).toHaveLength(2);
});

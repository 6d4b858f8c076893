import { expect, test } from "vitest";
import { networkFeesOf, quotedFeesOf } from "./operation-sums";
import type { Operation } from "./operation";

type Fee = Operation["fees"][number];

const token = (symbol: string, chainId: number) =>
  ({
    symbol,
    address: "native",
    chainId,
    decimals: 18,
    assetId: symbol.toLowerCase(),
  }) as const;
const network = (
  amount: string,
  paidBy: "sponsor" | "wallet",
  symbol = "ETH",
  chainId = 1,
): Fee => ({
  kind: "network",
  amount,
  token: token(symbol, chainId),
  paidBy,
});

test("what each payer paid is added up by coin, over chains", () => {
  const fees = [
    network("0.0001", "sponsor"),
    network("0.00002", "sponsor", "ETH", 8453),
    network("0.3", "sponsor", "POL", 137),
    network("0.002", "wallet"),
  ];
  expect(networkFeesOf(fees)).toMatchObject([
    {
      paidBy: "sponsor",
      sums: [
        { symbol: "ETH", amount: "0.00012" },
        { symbol: "POL", amount: "0.3" },
      ],
    },
    { paidBy: "wallet", sums: [{ symbol: "ETH", amount: "0.002" }] },
  ]);
});

test("network fees are not among those that were quoted", () => {
  const bridge: Fee = { kind: "bridge", amount: "1", token: token("USDC", 1) };
  expect(quotedFeesOf([bridge, network("1", "wallet")])).toEqual([bridge]);
  expect(networkFeesOf([bridge])).toEqual([]);
});

import { expect, test } from "vitest";
import { quoteFlow } from "@/components/features/flow-picture/quote-picture";
import { pictureOf } from "./transfer-picture";

const transfer = {
  fromAddress: "0x1",
  fromChainId: 1,
  sent: { amount: "5", token: { symbol: "USDC" } },
  estimatedSeconds: 2,
};
const to = {
  address: "0x2",
  chainId: 2,
  amount: "4.9",
  minAmount: "4.8",
  token: { symbol: "USDC" },
};
const words = { chainName: String, addressName: (address: string) => address };
const hopsOf = (steps: { sourceIndex: number; kind: string; venue: string }[]) =>
  quoteFlow(pictureOf({ ...transfer, steps }, to), words).legs[0]?.hops;

test("a transfer across chains is drawn over the bridge of its route", () => {
  expect(hopsOf([{ sourceIndex: 0, kind: "bridge", venue: "Across" }])).toEqual([
    { kind: "bridge", venue: "Across" },
  ]);
});

test("a transfer on one chain has nothing between its wallets", () => {
  expect(hopsOf([{ sourceIndex: 0, kind: "transfer", venue: "Wallet" }])).toEqual([]);
});

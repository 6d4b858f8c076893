import { expect, test } from "vitest";
import { operationTitle } from "./operation-title";
import type { Operation } from "./types";

const token = (symbol: string, decimals: number) => ({ symbol, assetId: symbol.toLowerCase(), decimals });
const words = { addressName: () => "Ada", hidden: false, locale: "en" };

const operationOf = (change: { status?: string; received?: string; out?: string }): Operation => {
  const to = change.out === "USDC" ? token("USDC", 6) : token("WETH", 18);
  return {
    status: change.status ?? "processing",
    quoted: {
      from: [
        { amount: "120", token: token("USDC", 6) },
        { amount: "80", token: token("USDC", 6) },
      ],
      to: { amount: "0.066630215", token: to, address: "0x1" },
    },
    actual: { received: { amount: change.received ?? "0" } },
    deposit: null,
  } as unknown as Operation;
};

test("a swap is named by what is sent and what is expected", () => {
  expect(operationTitle(operationOf({}), words)).toBe("200.00 USDC → 0.0666302 WETH");
});

test("a completed swap is named by what arrived", () => {
  const completed = operationOf({ status: "completed", received: "0.0701" });
  expect(operationTitle(completed, words)).toBe("200.00 USDC → 0.0701 WETH");
});

test("a cancelled swap does not say that nothing arrived in its title", () => {
  expect(operationTitle(operationOf({ status: "cancelled" }), words)).toBe("200.00 USDC → 0.0666302 WETH");
});

test("a transfer is named by its recipient", () => {
  expect(operationTitle(operationOf({ out: "USDC" }), words)).toBe("200.00 USDC → Ada");
});

test("a deposit of coins, which has no sources, is named by what came into which wallet", () => {
  const coins = { received: { amount: "1.5", token: token("ETH", 18) }, walletAddress: "0x1" };
  const deposit = { ...operationOf({}), quoted: { from: [] }, deposit: coins } as unknown as Operation;
  expect(operationTitle(deposit, words)).toBe("1.5 ETH → Ada");
  expect(operationTitle(deposit, { ...words, hidden: true })).toBe("ETH → Ada");
});

test("hidden amounts are not in the title", () => {
  expect(operationTitle(operationOf({}), { ...words, hidden: true })).toBe("USDC → WETH");
});

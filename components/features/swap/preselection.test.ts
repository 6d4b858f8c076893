import { describe, expect, test } from "vitest";
import { counterpartOf, holdingsOf, nextSource, preselectionOf } from "./preselection";
import type { SwapSetup } from "./use-swap-setup";

const TREASURY = { id: "wal_1", address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" };
const LINKED = { id: "wal_2", address: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359" };

const token = (chainId: number, symbol: string, priceUsd: string | null) => ({
  chainId,
  symbol,
  address: `0x${symbol}${String(chainId)}`,
  assetId: symbol.toLowerCase(),
  decimals: 6,
  priceUsd,
});
type Held = readonly [
  wallet: { address: string },
  chainId: number,
  symbol: string,
  amount: string,
];

// The code under test reads none of the other fields.
const setupOf = (held: readonly Held[], stale: readonly number[] = []): SwapSetup =>
  ({
    wallets: [LINKED, TREASURY],
    treasury: TREASURY,
    tokens: [
      token(1, "USDC", "1"),
      token(1, "WETH", "3000"),
      token(2, "USDC", "1"),
      token(2, "ODD", null),
      token(3, "WETH", "3000"),
    ],
    balances: {
      stale: stale.map((chainId) => ({ chainId })),
      nextCursor: null,
      totals: [
        {
          breakdown: held.map(([{ address }, chainId, symbol, available]) => ({
            address,
            chainId,
            available,
            token: { address: `0x${symbol}${String(chainId)}` },
          })),
        },
      ],
    },
  }) as unknown as SwapSetup;

describe("the preselection", () => {
  test("is the source that is worth the most in dollars, and not the one with the most units", () => {
    const setup = setupOf([
      [TREASURY, 1, "USDC", "900"],
      [LINKED, 1, "WETH", "0.5"],
      [TREASURY, 2, "ODD", "1000000"],
    ]);
    expect(preselectionOf(setup)).toEqual({
      source: { address: LINKED.address, chainId: "1", token: "0xWETH1", amount: "" },
      target: { chainId: "1", token: "0xUSDC1" },
    });
  });

  test("receives WETH for USDC, on another chain where its own has none", () => {
    const { tokens } = setupOf([]);
    const target = (chainId: string, address: string) =>
      counterpartOf(tokens, { chainId, token: address });
    expect(target("1", "0xUSDC1")).toEqual({ chainId: "1", token: "0xWETH1" });
    expect(target("2", "0xUSDC2")).toEqual({ chainId: "1", token: "0xWETH1" });
    expect(target("3", "0xWETH3")).toEqual({ chainId: "1", token: "0xUSDC1" });
    expect(target("2", "0xODD2")).toEqual({ chainId: "2", token: "0xUSDC2" });
    expect(target("9", "0xNONE")).toBeUndefined();
  });

  test("begins at the treasury when nothing is held or nothing is known", () => {
    const first = { address: TREASURY.address, chainId: "1", token: "0xUSDC1", amount: "" };
    expect(preselectionOf(setupOf([])).source).toEqual(first);
    expect(preselectionOf({ ...setupOf([]), balances: undefined }).source).toEqual(first);
  });

  test("does not count a balance that is out of date", () => {
    const setup = setupOf(
      [
        [TREASURY, 1, "WETH", "5"],
        [TREASURY, 2, "USDC", "10"],
      ],
      [1],
    );
    expect(preselectionOf(setup).source.token).toBe("0xUSDC2");
  });
});

describe("an added source", () => {
  const setup = setupOf([
    [TREASURY, 1, "USDC", "900"],
    [TREASURY, 1, "WETH", "0.1"],
    [LINKED, 2, "USDC", "50"],
  ]);
  const target = { chainId: "1", token: "0xWETH1" };

  test("is the next in value, neither listed already nor the token that is received", () => {
    const [first] = [nextSource(setup, [], target)];
    expect(first.token).toBe("0xUSDC1");
    const second = nextSource(setup, [first], target);
    expect(second).toMatchObject({ address: LINKED.address, token: "0xUSDC2" });
    expect(nextSource(setup, [first, second], target).token).toBe("");
  });
});

test("holdings without a price come after those with one, and before what is not held", () => {
  const setup = setupOf([
    [TREASURY, 2, "ODD", "1000000"],
    [TREASURY, 2, "USDC", "0.01"],
  ]);
  const [first, second, third] = holdingsOf(setup);
  expect([first?.token, second?.token]).toEqual(["0xUSDC2", "0xODD2"]);
  expect(third?.amount).toBe("0");
});

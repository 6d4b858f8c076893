import { expect, test } from "vitest";
import { valuesOfLink } from "./swap-link";
import type { SwapSetup } from "./use-swap-setup";

const TREASURY = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const OTHER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

const token = (chainId: number, symbol: string) => ({
  chainId,
  symbol,
  address: `0x${symbol}${String(chainId)}`,
  decimals: 6,
});
const part = (address: string, chainId: number, available: string) => ({
  address,
  chainId,
  available,
  token: { address: `0xUSDC${String(chainId)}` },
});
// The code under test reads none of the other fields.
const SETUP = {
  wallets: [
    { id: "wal_1", address: TREASURY },
    { id: "wal_2", address: OTHER },
  ],
  treasury: { id: "wal_1", address: TREASURY },
  tokens: [token(1, "USDC"), token(2, "USDC"), token(2, "WETH")],
  chains: [],
  reserves: [],
  balances: {
    stale: [],
    nextCursor: null,
    totals: [
      { breakdown: [part(TREASURY, 1, "5"), part(TREASURY, 2, "50"), part(OTHER, 1, "9")] },
    ],
  },
} as unknown as SwapSetup;

const DEFAULTS = {
  sources: [{ address: TREASURY, chainId: "1", token: "", amount: "" }],
  toChainId: "1",
  toToken: "",
  toAddress: TREASURY,
  slippage: "0.5",
};
const filled = (search: string) => valuesOfLink(SETUP, search, DEFAULTS);

test("a link names token, amount and destination; the chain is the one where most of the token lies", () => {
  expect(filled("?from=usdc&amount=12.5&to=WETH")).toEqual({
    ...DEFAULTS,
    sources: [{ address: TREASURY, chainId: "2", token: "0xUSDC2", amount: "12.5" }],
    toChainId: "2",
    toToken: "0xWETH2",
  });
});

test("a link may name the chain and the wallet", () => {
  expect(filled(`?from=USDC&chain=1&wallet=wal_2`)?.sources).toEqual([
    { address: OTHER, chainId: "1", token: "0xUSDC1", amount: "" },
  ]);
});

test("what a link says wrongly is left out", () => {
  expect(filled("")).toBeNull();
  expect(filled("?from=NONE&amount=5")).toBeNull();
  expect(filled("?from=USDC&amount=-1")?.sources[0]?.amount).toBe("");
  expect(filled("?from=USDC&wallet=wal_9")?.sources[0]?.address).toBe(TREASURY);
});

test("a link with a source alone receives the counterpart of that source", () => {
  expect(filled("?from=WETH&chain=2")).toMatchObject({ toChainId: "2", toToken: "0xUSDC2" });
  expect(filled("?from=USDC&chain=2")).toMatchObject({ toChainId: "2", toToken: "0xWETH2" });
});

test("a link to the token that is preselected as source sends another one", () => {
  const defaults = {
    ...DEFAULTS,
    sources: [{ address: TREASURY, chainId: "2", token: "0xUSDC2", amount: "" }],
  };
  const [source] = valuesOfLink(SETUP, "?to=USDC&toChain=2", defaults)?.sources ?? [];
  expect(source).toMatchObject({ address: OTHER, chainId: "1", token: "0xUSDC1" });
});

import { describe, expect, test } from "vitest";
import { swapSchema, toQuoteBody, type SwapValues } from "./form-model";
import type { TokenInfo } from "./tokens";

const WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

const token = (
  chainId: number,
  symbol: string,
  address: string,
  decimals: number,
): TokenInfo => ({
  chainId,
  symbol,
  address,
  decimals,
  assetId: symbol.toLowerCase(),
  name: symbol,
  caip19: `eip155:${chainId}/x`,
  priceUsd: null,
  usdPegged: false,
});
const TOKENS = [
  token(1, "USDC", USDC, 6),
  token(2, "USDC", WALLET, 6),
  token(2, "ETH", "native", 18),
];

const values = (change: Partial<SwapValues> = {}): SwapValues => ({
  sources: [{ address: WALLET, chainId: "1", token: USDC, amount: "12.5" }],
  toChainId: "2",
  toToken: "native",
  toAddress: WALLET.toLowerCase(),
  slippage: "0.5",
  ...change,
});
const withAmount = (amount: string): SwapValues =>
  values({ sources: [{ ...values().sources[0], amount } as never] });
const problemsOf = (given: SwapValues): string[] =>
  swapSchema(TOKENS)
    .safeParse(given)
    .error?.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`) ?? [];

test("a complete form becomes the body of the quote, its recipient checksummed", () => {
  expect(toQuoteBody(TOKENS, values())).toEqual({
    from: [{ address: WALLET, chainId: 1, token: USDC, amount: "12.5" }],
    toChainId: 2,
    toToken: "native",
    toAddress: WALLET,
    slippageBps: 50,
  });
});

describe("amounts", () => {
  test.each(["", "0", ",", "-1", "1e3", "0x10", "1_000", "NaN", "١", "1,00,00"])(
    "%j is refused",
    (amount) => {
      expect(toQuoteBody(TOKENS, withAmount(amount))).toBeNull();
      expect(problemsOf(withAmount(amount))[0]).toMatch(/^sources\.0\.amount: /);
    },
  );

  test("are sent as plain decimal strings, whatever separators were typed", () => {
    const sent = (amount: string) => toQuoteBody(TOKENS, withAmount(amount))?.from[0]?.amount;
    expect(["1,000.5", "1 000.50", ".5", "12."].map(sent)).toEqual([
      "1000.5",
      "1000.50",
      "0.5",
      "12",
    ]);
  });

  test("say in one line what is wrong", () => {
    expect(problemsOf(withAmount(""))).toContain("sources.0.amount: Enter an amount.");
    expect(problemsOf(withAmount("many"))).toContain(
      "sources.0.amount: Enter an amount such as 1,250.00.",
    );
    expect(problemsOf(withAmount("0"))).toContain(
      "sources.0.amount: Enter an amount above zero.",
    );
  });

  test("with more digits than the token has are refused, never rounded", () => {
    expect(problemsOf(withAmount("1.0000001"))).toEqual([
      "sources.0.amount: USDC has 6 digits after the point, no more.",
    ]);
  });
});

test("a recipient with a wrong checksum is refused at its field", () => {
  const wrong = values({ toAddress: WALLET.replace("5aA", "5Aa") });
  expect(problemsOf(wrong)).toEqual(["toAddress: The address has a wrong checksum (EIP-55)."]);
});

test("the second of two equal sources is named", () => {
  const [source] = values().sources;
  const twice = values({
    sources: source === undefined ? [] : [source, { ...source, amount: "1" }],
  });
  expect(problemsOf(twice)[0]).toMatch(/^sources\.1\.token: /);
});

test("slippage above ten per cent is refused at its field", () => {
  expect(problemsOf(values({ slippage: "10.01" }))[0]).toMatch(/^slippage: /);
});

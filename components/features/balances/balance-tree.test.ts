import { describe, expect, test } from "vitest";
import type { Balances, TokenTotal } from "./use-balances";
import { balanceTree, openableIds, pricedTotal, visibleNodes } from "./balance-tree";

const amounts = (amount: string) => ({
  amount,
  amountBase: amount,
  available: amount,
  backing: "0",
  reserved: "0",
  pendingOut: "0",
  quarantined: "0",
  pendingIn: "0",
});

const part = (
  symbol: string,
  chainId: number,
  walletId: string,
  amount: string,
  usd: string | null,
) => ({
  chainId,
  walletId,
  address: `0x${walletId}` as const,
  token: { symbol, address: `0x${symbol}`, chainId, decimals: 0, assetId: symbol },
  ...amounts(amount),
  usd,
});

const chain = (chainId: number, amount: string, usd: string | null) => ({
  chainId,
  ...amounts(amount),
  usd,
});

const total = (
  token: string,
  { chains, breakdown }: Pick<TokenTotal, "chains" | "breakdown">,
  amount: string,
  usd: string | null,
): TokenTotal => ({
  token,
  assetId: token,
  ...amounts(amount),
  decimals: 0,
  usd,
  chains,
  breakdown,
});

const BALANCES: Pick<Balances, "totals"> = {
  totals: [
    total(
      "ODD",
      { chains: [chain(1, "5", null)], breakdown: [part("ODD", 1, "a", "5", null)] },
      "5",
      null,
    ),
    total(
      "DAI",
      { chains: [chain(1, "10", "10")], breakdown: [part("DAI", 1, "a", "10", "10")] },
      "10",
      "10",
    ),
    total(
      "USDC",
      {
        chains: [chain(1, "5", "5"), chain(2, "25", "25"), chain(3, "0", "0")],
        breakdown: [
          part("USDC", 1, "a", "5", "5"),
          part("USDC", 2, "a", "20", "20"),
          part("USDC", 2, "b", "5", "5"),
          part("USDC", 3, "b", "0", "0"),
        ],
      },
      "30",
      "30",
    ),
    total("GONE", { chains: [], breakdown: [] }, "0", "0"),
  ],
};

describe("the table of balances", () => {
  const tree = balanceTree(BALANCES);

  test("goes from token to chain to wallet, worth most first, without what is empty", () => {
    expect(tree.map((node) => node.token)).toEqual(["USDC", "DAI", "ODD"]);
    const [usdc] = tree;
    expect(usdc?.children.map((node) => [node.chainId, node.amounts.amount, node.usd])).toEqual(
      [
        [2, "25", "25"],
        [1, "5", "5"],
      ],
    );
    expect(
      usdc?.children[0]?.children.map((node) => [node.wallet?.id, node.amounts.amount]),
    ).toEqual([
      ["a", "20"],
      ["b", "5"],
    ]);
  });

  test("gives shares of what has a price, and none to what has not", () => {
    expect(tree.map((node) => node.shareTenths)).toEqual([750, 250, null]);
    expect(tree[0]?.children[0]?.children[1]?.shareTenths).toBe(125);
  });

  test("gives shares that add up to 100 per cent, and to the share above them", () => {
    const third = (token: string, usd: string) =>
      total(
        token,
        { chains: [chain(1, usd, usd)], breakdown: [part(token, 1, "a", usd, usd)] },
        usd,
        usd,
      );
    const thirds = balanceTree({ totals: [third("A", "1"), third("B", "1"), third("C", "1")] });
    expect(thirds.map((node) => node.shareTenths)).toEqual([334, 333, 333]);
    for (const node of thirds)
      expect(node.children.map((child) => child.shareTenths)).toEqual([node.shareTenths]);
  });

  test("gives the share of wallets that are not listed to none of those that are", () => {
    const half = total(
      "A",
      { chains: [chain(1, "4", "4")], breakdown: [part("A", 1, "a", "2", "2")] },
      "4",
      "4",
    );
    expect(balanceTree({ totals: [half] })[0]?.children[0]?.children[0]?.shareTenths).toBe(500);
  });

  test("shows a line only when all above it are open", () => {
    expect(visibleNodes(tree, new Set()).map((node) => node.id)).toEqual([
      "USDC",
      "DAI",
      "ODD",
    ]);
    expect(visibleNodes(tree, new Set(["USDC/2"])).length).toBe(3);
    expect(visibleNodes(tree, new Set(["USDC", "USDC/2"])).map((node) => node.level)).toEqual([
      1, 2, 3, 3, 2, 1, 1,
    ]);
    expect(visibleNodes(tree, new Set(openableIds(tree))).length).toBe(3 + 4 + 5);
  });
});

test("a token that is only on its way has its line, with what comes in", () => {
  const coming = { ...amounts("0"), pendingIn: "7" };
  const [usdc] = balanceTree({
    totals: [{ ...total("USDC", { chains: [], breakdown: [] }, "0", "0"), ...coming }],
  });
  expect(usdc?.amounts).toEqual({
    amount: "0",
    available: "0",
    backing: "0",
    reserved: "0",
    pendingOut: "0",
    quarantined: "0",
    pendingIn: "7",
  });
});

test("a total names what it leaves out", () => {
  expect(pricedTotal(BALANCES)).toEqual({ usd: "40", unpriced: ["ODD"] });
  expect(pricedTotal({ totals: [] })).toEqual({ usd: "0", unpriced: [] });
  const odd = { totals: BALANCES.totals.filter(({ token }) => token === "ODD") };
  expect(pricedTotal(odd)).toEqual({ usd: null, unpriced: ["ODD"] });
});

import { expect, test } from "vitest";
import { type DustDeps, type Found, isDust, withDust } from "./apply";

const TOKENS = {
  "0xusdc": { decimals: 6, dustFloor: undefined },
  "0xweth": { decimals: 18, dustFloor: undefined },
  "0xfloor": { decimals: 6, dustFloor: "0.5" },
  "0xevery": { decimals: 18, dustFloor: "0" },
  "0xwhole": { decimals: 0, dustFloor: undefined },
} as const;
type Name = keyof typeof TOKENS;

const PRICES: Readonly<Partial<Record<Name, string>>> = {
  "0xusdc": "1",
  "0xweth": "3000",
  "0xfloor": "1",
};

const deps = {
  prices: {
    priceUsd: (tokens: readonly { address: string }[]) =>
      Promise.resolve(tokens.map(({ address }) => PRICES[address as Name] ?? null)),
  },
  tokenOf: ({ token }: { token: string }) => ({
    address: token,
    decimals: TOKENS[token as Name].decimals,
  }),
  registry: {
    find: () => ({
      tokens: Object.entries(TOKENS).map(([address, { dustFloor }]) => ({
        address,
        dustFloor,
      })),
    }),
  },
} as unknown as DustDeps;

const found = (token: Name, amountBase: bigint, state: "pending" | "quarantined"): Found =>
  ({ deposit: { chainId: 1, token, amountBase, state } }) as unknown as Found;

const statesOf = async (token: Name, amounts: readonly bigint[]): Promise<string[]> =>
  (
    await withDust(
      deps,
      amounts.map((amountBase) => found(token, amountBase, "pending")),
    )
  ).map(({ deposit }) => deposit.state);

test("by default less than a cent is dust, and a cent is not", async () => {
  expect(await statesOf("0xusdc", [1n, 9_999n, 10_000n])).toEqual(["dust", "dust", "pending"]);
  expect(await statesOf("0xweth", [1n, 10n ** 13n])).toEqual(["dust", "pending"]);
});

test("a floor of the chain's file decides, whatever the amount is worth, and 0 shows every transfer", async () => {
  expect(await statesOf("0xfloor", [499_999n, 500_000n])).toEqual(["dust", "pending"]);
  expect(await statesOf("0xevery", [1n])).toEqual(["pending"]);
});

test("without a price less than a ten-thousandth of the token is dust, and a token without decimals has none", () => {
  const dust = (token: Name, amountBase: bigint) =>
    isDust(deps, { chainId: 1, token, amountBase }, null);
  expect([dust("0xusdc", 99n), dust("0xusdc", 100n), dust("0xwhole", 1n)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("what a screening keeps back is no dust", async () => {
  expect((await withDust(deps, [found("0xusdc", 1n, "quarantined")]))[0]?.deposit.state).toBe(
    "quarantined",
  );
});

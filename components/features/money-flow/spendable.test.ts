import { expect, test } from "vitest";
import { shortageOf, spendableOf, type Reserves } from "./spendable";

const chain = (chainId: number, backs: boolean) => ({
  chainId,
  wallet: "0x0000000000000000000000000000000000000001" as const,
  amount: "842.25",
  blockNumber: "1",
  at: "2026-01-01T00:00:00.000Z",
  stale: false,
  backs,
});

const reserves: Reserves = [
  {
    currency: "USDC",
    assetId: "usdc",
    decimals: 6,
    liabilities: "580",
    inTransit: "0",
    onChain: "842.25",
    committed: "0",
    available: "262.25",
    covered: true,
    chains: [chain(1, true), chain(2, false)],
    root: null,
  },
];
const place = { isTreasury: true, chainId: 1, assetId: "usdc", available: "842.25" };

test("what backs global accounts may not leave the treasury", () => {
  expect(spendableOf(place, reserves)).toEqual({ amount: "262.25", backing: "580" });
  expect(spendableOf({ ...place, available: "100" }, reserves)).toEqual({ amount: "100", backing: null });
});

test("other wallets, other assets and chains that back nothing keep all that is available", () => {
  const free = { amount: "842.25", backing: null };
  expect(spendableOf({ ...place, isTreasury: false }, reserves)).toEqual(free);
  expect(spendableOf({ ...place, assetId: "dai" }, reserves)).toEqual(free);
  expect(spendableOf({ ...place, chainId: 2 }, reserves)).toEqual(free);
});

test("while the reserves are read, nothing is offered of the treasury", () => {
  expect(spendableOf(place, undefined).amount).toBeNull();
});

test("a source that asks for more than it may give is named with what is missing", () => {
  const source = { symbol: "USDC", amount: "262.25", backing: "580" };
  expect(shortageOf([{ ...source, asked: "262.25" }])).toBeNull();
  expect(shortageOf([{ ...source, asked: "263" }])).toEqual({
    symbol: "USDC",
    missing: "0.75",
    spendable: "262.25",
    backing: "580",
  });
  expect(
    shortageOf([
      { ...source, asked: null },
      { ...source, amount: null, asked: "9" },
    ]),
  ).toBeNull();
});

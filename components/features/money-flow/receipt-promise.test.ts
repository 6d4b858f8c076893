import { expect, test } from "vitest";
import { brokenPromises } from "./receipt-promise";
import type { MovePromise, Prepared } from "./types";

const TREASURY = "0x7225000000000000000000000000000000000001";
const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const USDC = { symbol: "USDC", address: "0x0c00000000000000000000000000000000000001" };

const PROMISE: MovePromise = {
  from: [{ address: TREASURY, chainId: 1, amount: "20", token: USDC }],
  to: { address: ADA, chainId: 2, amount: "19.9", minAmount: "19.8", token: USDC },
  warnings: [{ code: "first_payment", path: "toAddress", message: "It is the first one." }],
  networkFees: ["sponsor"],
};

type Facts = Parameters<typeof brokenPromises>[1];

// The comparison reads none of the other fields.
const FACTS = {
  to: PROMISE.to,
  warnings: PROMISE.warnings,
  networkFees: [{ walletAddress: TREASURY, chainId: 1, paidBy: "sponsor" }],
  simulation: {
    balanceChanges: [
      {
        walletAddress: TREASURY,
        chainId: 1,
        token: USDC,
        change: "-20",
        certainty: "simulated",
      },
      { walletAddress: ADA, chainId: 2, token: USDC, change: "+19.9", certainty: "expected" },
    ],
  },
} as unknown as Prepared;

const brokenBy = (change: object): string[] => brokenPromises(PROMISE, { ...FACTS, ...change });

const changed = (change: object) => ({
  simulation: { balanceChanges: [{ ...FACTS.simulation.balanceChanges[0], ...change }] },
});

test("the receipt holds when nothing is worse, also when more arrives and addresses differ in case", () => {
  expect(brokenBy({})).toEqual([]);
  expect(brokenBy({ to: { ...PROMISE.to, minAmount: "19.85", amount: "20" } })).toEqual([]);
  expect(brokenBy({ to: { ...PROMISE.to, address: ADA.toLowerCase() } })).toEqual([]);
  expect(brokenBy({ warnings: [] })).toEqual([]);
  expect(brokenBy(changed({ change: "-19.99" }))).toEqual([]);
});

test("a lower minimum breaks it by any amount; the expected amount is no promise", () => {
  expect(brokenBy({ to: { ...PROMISE.to, minAmount: "19.799999" } })).toEqual(["minimum"]);
  expect(brokenBy({ to: { ...PROMISE.to, amount: "19.8" } })).toEqual([]);
});

test("another recipient, chain or token breaks it", () => {
  for (const other of [
    { address: TREASURY },
    { chainId: 1 },
    { token: { symbol: "USDC", address: "0x0d" } },
  ])
    expect(brokenBy({ to: { ...PROMISE.to, ...other } })).toEqual(["recipient"]);
});

test("a network fee that a wallet pays breaks it, unless the receipt said so", () => {
  const byWallet = { networkFees: [{ walletAddress: TREASURY, chainId: 1, paidBy: "wallet" }] };
  expect(brokenBy(byWallet)).toEqual(["networkFee"]);
  const facts = { ...FACTS, ...byWallet } as unknown as Facts;
  expect(brokenPromises({ ...PROMISE, networkFees: [null] }, facts)).toEqual(["networkFee"]);
  expect(brokenPromises({ ...PROMISE, networkFees: ["wallet"] }, facts)).toEqual([]);
});

test("a balance that falls by more than the receipt says, or that it does not name, breaks it", () => {
  expect(brokenBy(changed({ change: "-20.000001" }))).toEqual(["source"]);
  expect(brokenBy(changed({ chainId: 3 }))).toEqual(["source"]);
  expect(brokenBy(changed({ walletAddress: ADA }))).toEqual(["source"]);
  expect(brokenBy(changed({ token: { symbol: "ETH", address: "native" } }))).toEqual([
    "source",
  ]);
});

test("a warning that the receipt did not show breaks it", () => {
  const other = { code: "lookalike_recipient", path: "toAddress", message: "It looks alike." };
  expect(brokenBy({ warnings: [...PROMISE.warnings, other] })).toEqual(["warning"]);
});

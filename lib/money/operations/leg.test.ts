import { expect, test } from "vitest";
import { toDecimal } from "@/lib/platform/db/decimal";
import type { OperationLeg } from "@/lib/platform/db/generated/client";
import { parseLeg } from "./leg";

const WALLET = "0x1111111111111111111111111111111111111111";
const HASH = `0x${"aa".repeat(32)}`;

const token = {
  symbol: "USDC",
  name: "USDC",
  chainId: 1,
  address: WALLET,
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};
const routeLeg = {
  provider: "onchain",
  sourceIndex: 0,
  kind: "transfer",
  expectedOutBase: "5",
  minOutBase: "4",
  steps: [],
  fees: [{ kind: "swap", token, amountBase: "1" }],
  estimatedSeconds: 1,
  priceImpactBps: 0,
  plan: { kind: "transfer" },
};

const rowOf = (change: Partial<OperationLeg>): OperationLeg => ({
  projectId: "prj_1",
  id: "leg_1",
  operationId: "op_1",
  position: 0,
  walletId: "wal_1",
  walletAddress: WALLET,
  kind: "transfer",
  sourceChainId: 1,
  destChainId: 1,
  state: "submitted",
  routeLeg,
  amountBase: toDecimal(5n),
  spentBase: null,
  receivedBase: null,
  fillDeadline: null,
  via: "transaction",
  executorWalletId: null,
  walletTransactions: null,
  permit: null,
  userOpHash: null,
  earlierUserOpHashes: [],
  userOperation: null,
  gas: {},
  validUntil: null,
  fromBlock: 0n,
  sourceTxHash: null,
  sourceBlock: null,
  sourceConfirmations: 0,
  gasCostWei: null,
  gasPaidBy: null,
  deposit: null,
  depositedBase: null,
  destTxHash: null,
  destBlock: null,
  destConfirmations: 0,
  refundTxHash: null,
  refundBlock: null,
  refundedBase: null,
  refundToken: null,
  refundAttention: null,
  failure: null,
  sponsorReservedWei: null,
  sponsorDay: null,
  version: 0,
  updatedAt: new Date(0),
  ...change,
});

test("amounts and JSON columns are read as what they mean", () => {
  const sent = { actionId: "a", to: WALLET, data: "0x", value: "5", hash: HASH, nonce: null };
  const leg = parseLeg(
    rowOf({
      walletTransactions: { transactions: [sent], fromNonce: 7 },
      spentBase: toDecimal(3n),
      refundedBase: toDecimal(2n),
      refundToken: token,
      failure: { code: "not_sent", message: "It was not sent.", retryable: false },
    }),
  );
  expect(leg).toMatchObject({
    amountBase: 5n,
    spentBase: 3n,
    refundedBase: 2n,
    refundToken: token,
    gas: null,
  });
  expect(leg.routeLeg).toMatchObject({ minOutBase: 4n, fees: [{ amountBase: 1n }] });
  expect(leg.walletTransactions).toEqual({
    transactions: [{ ...sent, value: 5n }],
    fromNonce: 7,
  });
  expect(leg.failure).toMatchObject({ code: "not_sent", retryable: false });
});

test("a failure that does not say whether it may be tried again may be", () => {
  expect(
    parseLeg(rowOf({ failure: { code: "old", message: "Old." } })).failure?.retryable,
  ).toBe(true);
});

test.each([
  ["a state that this version does not know", { state: "teleported" }],
  ["a route leg without a provider", { routeLeg: { ...routeLeg, provider: undefined } }],
  ["a route leg without amounts", { routeLeg: { kind: "transfer" } }],
  ["a signed operation that is cut off", { userOperation: { sender: WALLET } }],
])("%s is refused instead of being acted on", (_, change) => {
  expect(() => parseLeg(rowOf(change))).toThrow();
});

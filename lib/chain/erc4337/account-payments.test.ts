import {
  encodeAbiParameters,
  encodeEventTopics,
  erc20Abi,
  getAddress,
  numberToHex,
  pad,
  type Address,
} from "viem";
import { expect, test } from "vitest";
import { CANONICAL_SAFE } from "@/lib/chain/chain-contracts";
import { encodeCalls, encodePayout } from "@/lib/adapters/safe-account/encoding";
import type { Token } from "@/lib/core/token";
import { paymentsIn, payloadOf } from "./account-payments";

const [ACCOUNT, ONE, TWO, USDC, DISTRIBUTOR, OTHER] = [
  "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
  "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
].map((address) => getAddress(address)) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const coin = { address: "native", symbol: "ETH", decimals: 18 } as unknown as Token;
const tokens = [{ address: USDC, symbol: "USDC", decimals: 6 } as unknown as Token];
const known = { tokens, coin };
const ETHER = 10n ** 18n;

const transfer = (token: Address, from: Address, to: Address, amount: bigint) => ({
  address: token,
  topics: encodeEventTopics({
    abi: erc20Abi,
    eventName: "Transfer",
    args: { from, to },
  }) as `0x${string}`[],
  data: encodeAbiParameters([{ type: "uint256" }], [amount]),
});
const eth = (to: Address, amount: string) => ({ to, token: "native", symbol: "ETH", amount });

test("coins are read from one call, from several, and from the distributor's rows", () => {
  const pays = (callData: `0x${string}`) =>
    paymentsIn({ logs: [], callData, account: ACCOUNT }, known);
  const calls = [
    { to: ONE, value: ETHER, data: "0x" },
    { to: USDC, value: 0n, data: "0x1234" },
    { to: TWO, value: 2n * ETHER, data: "0xabcd" },
  ] as const;
  expect(pays(encodeCalls(calls.slice(0, 1), CANONICAL_SAFE))).toEqual([eth(ONE, "1")]);
  expect(pays(encodeCalls(calls, CANONICAL_SAFE))).toEqual([eth(ONE, "1"), eth(TWO, "2")]);
  const rows = [
    { recipient: ONE, amountBase: ETHER },
    { recipient: TWO, amountBase: 3n * ETHER },
  ];
  expect(pays(encodePayout({ token: "native", rows }, CANONICAL_SAFE, DISTRIBUTOR))).toEqual([
    eth(ONE, "1"),
    eth(TWO, "3"),
  ]);
  const huge = [{ recipient: ONE, amountBase: 2n ** 100n }];
  expect(
    pays(encodePayout({ token: "native", rows: huge }, CANONICAL_SAFE, DISTRIBUTOR)),
  ).toHaveLength(1);
  expect(pays("0xdeadbeef")).toEqual([]);
});

test("tokens are read from the logs: what the account gave, in whole units where the token is configured", () => {
  const logs = [
    transfer(USDC, ACCOUNT, ONE, 25_000_000n),
    transfer(OTHER, ACCOUNT, TWO, 7n),
    transfer(USDC, ONE, TWO, 1n),
  ];
  expect(paymentsIn({ logs, callData: "0x", account: ACCOUNT }, known)).toEqual([
    { to: ONE, token: USDC, symbol: "USDC", amount: "25" },
    { to: TWO, token: OTHER, symbol: OTHER, amount: "7" },
  ]);
  expect(paymentsIn({ logs, callData: "0x", account: null }, known)).toHaveLength(3);
});

test.each([
  [
    "packed rows",
    encodePayout(
      { token: USDC, rows: [{ recipient: ONE, amountBase: 1n }] },
      CANONICAL_SAFE,
      DISTRIBUTOR,
    ),
  ],
  [
    "several calls",
    encodeCalls(
      [ONE, TWO].map((to) => ({ to, value: 1n, data: "0x" as const })),
      CANONICAL_SAFE,
    ),
  ],
])("the payload of %s names the recipient", (_form, callData) => {
  expect(payloadOf([], callData)).toContain(ONE.slice(2).toLowerCase());
  expect(
    payloadOf([{ address: USDC, topics: [pad(numberToHex(1n))], data: pad(ONE) }], "0x"),
  ).toContain(ONE.slice(2).toLowerCase());
});

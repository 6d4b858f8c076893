import { expect, test } from "vitest";
import type { TokenInfo } from "@/components/features/swap/tokens";
import type { Account } from "../account";
import { fieldMessagesOf, shortReason, toWithdrawBody, withdrawable } from "./withdraw-model";

const token = (chainId: number): TokenInfo => ({
  chainId,
  symbol: "USDC",
  name: "USD Coin",
  address: "0x00000000000000000000000000000000000000aa",
  decimals: 6,
  assetId: "usdc",
  priceUsd: "1",
  usdPegged: true,
  caip19: "eip155:1/erc20:0x00000000000000000000000000000000000000aa",
});
const account: Account = {
  ...{
    id: "ga_1",
    currency: "USDC",
    assetId: "usdc",
    decimals: 6,
    name: "Rent",
    status: "active",
    statusReason: null,
  },
  ...{
    balance: { available: "10", pending: "0", posted: "10" },
    version: 1,
    createdAt: "2026-01-01T00:00:00.000Z",
  },
};
const values = {
  ...{ chainId: "1", amount: "2.5", reference: " May " },
  toAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
};

test("a complete form is one row that the account bears; an incomplete one is nothing", () => {
  expect(toWithdrawBody([token(1)], account, values)).toEqual({
    ...{ sourceAccountId: "ga_1", chainId: 1, reference: "May" },
    transfers: [{ address: values.toAddress, amount: "2.5", token: token(1).address }],
  });
  for (const change of [
    { amount: "0" },
    { amount: "0.0000001" },
    { toAddress: "0x12" },
    { chainId: "2" },
  ])
    expect(toWithdrawBody([token(1)], account, { ...values, ...change })).toBeNull();
});

test("what may be withdrawn is the smaller of the account's money and the treasury's on the chain", () => {
  expect(withdrawable(account, "4").amount).toBe("4");
  expect(withdrawable(account, "400").amount).toBe("10");
  expect(withdrawable(account, null).amount).toBeNull();
  expect(shortReason(account, "4", "5")).toMatch(/treasury/);
  expect(shortReason(account, "400", "11")).toMatch(/account/);
  expect(shortReason(account, "400", "10")).toBeNull();
});

test("what the service says of the only row appears at its field", () => {
  const message = "is the treasury that pays: nothing would move";
  expect(fieldMessagesOf([{ path: "transfers.0.address", message }])).toEqual({
    toAddress: "The address is the treasury that pays: nothing would move.",
  });
});

import { expect, test } from "vitest";
import { type FormValues } from "./form-model";
import { toMoveRequest } from "./move-request";
import { isSmallSet } from "./receipt";
import { POOL } from "./testing";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const VALUES: FormValues = {
  walletId: "pw_1",
  pool: "31337-0x1",
  amount: "25",
  target: "address",
  toAddress: ` ${ADA} `,
  toWalletId: "pw_2",
  toPool: "",
  slippage: "0.5",
};
const MOVE = { chainId: 31337, token: "0x1", amount: "25", privacyWalletId: "pw_1" };
const bodyOf = (change: Partial<Parameters<typeof toMoveRequest>[0]>) =>
  toMoveRequest({ action: "transfer", values: VALUES, pool: POOL, amount: "25", ...change })
    .body;

test("a transfer names either the address or the private wallet", () => {
  expect(bodyOf({})).toEqual({ ...MOVE, toAddress: ADA });
  expect(bodyOf({ values: { ...VALUES, target: "wallet" } })).toEqual({
    ...MOVE,
    toPrivacyWalletId: "pw_2",
  });
});

test("only a small set that was accepted is sent as accepted, and only with a transfer", () => {
  expect(bodyOf({ acceptsSmallSet: true })).toEqual({
    ...MOVE,
    toAddress: ADA,
    acceptSmallSet: true,
  });
  expect(bodyOf({ action: "unshield", acceptsSmallSet: true })).toEqual({
    ...MOVE,
    toAddress: ADA,
  });
  expect([isSmallSet(9, 10), isSmallSet(10, 10), isSmallSet(0, 0)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("an unshield without an address goes to the treasury, and a shield names nobody", () => {
  expect(bodyOf({ action: "unshield", values: { ...VALUES, toAddress: " " } })).toEqual(MOVE);
  expect(bodyOf({ action: "shield" })).toEqual(MOVE);
});

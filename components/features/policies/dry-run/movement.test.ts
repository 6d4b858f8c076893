import { expect, test } from "vitest";
import { movementErrors, movementOf } from "./movement";

const WHOLE = {
  wallet: "wal_1",
  chain: "31337",
  token: "USDC",
  amount: " 12.5 ",
  to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  key: "",
};

test("a whole movement is tried, for a person or for a key", () => {
  const body = {
    fromWalletId: "wal_1",
    fromChainId: 31337,
    token: "USDC",
    amount: "12.5",
    toAddress: WHOLE.to,
  };
  expect(movementOf(WHOLE)).toEqual(body);
  expect(movementOf({ ...WHOLE, key: "key_1" })).toEqual({ ...body, keyId: "key_1" });
});

test("nothing is tried while a field is empty or wrong, and only what is wrong is named", () => {
  for (const field of ["wallet", "chain", "token", "amount", "to"] as const)
    expect(movementOf({ ...WHOLE, [field]: "" })).toBeNull();
  expect(movementErrors({ ...WHOLE, amount: "", to: "" })).toEqual({});
  expect(Object.keys(movementErrors({ ...WHOLE, amount: "0", to: "0x12" }))).toEqual([
    "amount",
    "to",
  ]);
  expect(movementOf({ ...WHOLE, amount: "0" })).toBeNull();
});

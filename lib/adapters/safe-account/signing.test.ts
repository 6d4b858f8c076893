import { SafeSmartAccount } from "permissionless/accounts/safe";
import { concatHex, slice, type Hex } from "viem";
import {
  entryPoint07Address,
  type UserOperation as ViemUserOperation,
} from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { CANONICAL_SAFE } from "@/lib/chain/chain-contracts";
import { isDomainError } from "@/lib/core/errors";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import { firstNonceOf, nonceKeyOf, sequenceOf } from "@/lib/chain/erc4337/user-operation";
import { DUMMY_SIGNATURE, isSignedBy, packSignature, safeOperationTypedData } from "./encoding";

const owner = privateKeyToAccount(generatePrivateKey());
const CHAIN_ID = 31337;
const VALID_UNTIL = new Date("2030-01-02T03:04:05.678Z");

const operation: UserOperation = {
  sender: "0x1111111111111111111111111111111111111111",
  nonce: firstNonceOf(nonceKeyOf("leg_1")),
  factory: CANONICAL_SAFE.proxyFactory,
  factoryData: "0x1234",
  callData: "0xabcdef",
  callGasLimit: 1n,
  verificationGasLimit: 2n,
  preVerificationGas: 3n,
  maxFeePerGas: 4n,
  maxPriorityFeePerGas: 5n,
  paymaster: "0x2222222222222222222222222222222222222222",
  paymasterVerificationGasLimit: 6n,
  paymasterPostOpGasLimit: 7n,
  paymasterData: "0x99",
  signature: DUMMY_SIGNATURE,
};
const typed = safeOperationTypedData({
  chainId: CHAIN_ID,
  entryPoint: entryPoint07Address,
  module4337: CANONICAL_SAFE.module4337,
  operation,
  validUntil: VALID_UNTIL,
});

describe("signature of a user operation", () => {
  test("is the one that permissionless makes for the same owner and validity", async () => {
    const ours = packSignature(VALID_UNTIL, await owner.signTypedData(typed));
    const theirs = await SafeSmartAccount.signUserOperation({
      ...(operation as ViemUserOperation<"0.7">),
      version: "1.4.1",
      entryPoint: { address: entryPoint07Address, version: "0.7" },
      owners: [owner],
      account: owner,
      chainId: CHAIN_ID,
      validUntil: Math.floor(VALID_UNTIL.getTime() / 1000),
    });
    expect(ours).toBe(theirs);
  });

  test("takes recovery ids of 0 and 1 for 27 and 28, as some wallets send them", async () => {
    const signature = await owner.signTypedData(typed);
    const parity = BigInt(slice(signature, 64)) - 27n;
    const asZeroOrOne: Hex = concatHex([
      slice(signature, 0, 64),
      parity === 0n ? "0x00" : "0x01",
    ]);
    expect(packSignature(VALID_UNTIL, asZeroOrOne)).toBe(packSignature(VALID_UNTIL, signature));
  });

  test.each<Hex>(["0x", "0x1234", `0x${"00".repeat(64)}05`])("refuses %s", (signature) => {
    expect.assertions(1);
    try {
      packSignature(VALID_UNTIL, signature);
    } catch (error) {
      expect(isDomainError(error) && error.code).toBe("invalid_signature");
    }
  });

  test("the dummy has the length of a real one", async () => {
    expect(DUMMY_SIGNATURE).toHaveLength(
      packSignature(VALID_UNTIL, await owner.signTypedData(typed)).length,
    );
  });
});

describe("nonce of a leg", () => {
  test("has the leg's own 192-bit key and sequence 0", () => {
    const nonce = firstNonceOf(nonceKeyOf("leg_1"));
    expect(nonce >> 64n).toBe(nonceKeyOf("leg_1"));
    expect(sequenceOf(nonce)).toBe(0n);
    expect(sequenceOf(nonce + 1n)).toBe(1n);
    expect(nonceKeyOf("leg_1")).toBeLessThan(1n << 192n);
    expect(nonceKeyOf("leg_1")).not.toBe(nonceKeyOf("leg_2"));
  });
});

describe("the check before an operation is signed again", () => {
  const place = {
    chainId: CHAIN_ID,
    entryPoint: entryPoint07Address,
    module4337: CANONICAL_SAFE.module4337,
  };
  const signed = async (): Promise<UserOperation> => ({
    ...operation,
    signature: packSignature(VALID_UNTIL, await owner.signTypedData(typed)),
  });
  const check = (changed: UserOperation, validUntil = VALID_UNTIL) =>
    isSignedBy(owner.address, { ...place, operation: changed, validUntil });

  test("accepts what the owner has signed", async () => {
    expect(await check(await signed())).toBe(true);
  });

  test("refuses an operation that was changed since, one of another owner, and one without a signature", async () => {
    const original = await signed();
    const stranger = privateKeyToAccount(generatePrivateKey());
    const byStranger = packSignature(VALID_UNTIL, await stranger.signTypedData(typed));
    const others = [
      { ...original, callData: "0xabcdee" as const },
      { ...original, nonce: original.nonce + 1n },
      { ...original, maxFeePerGas: 400n },
      { ...original, signature: byStranger },
      { ...original, signature: DUMMY_SIGNATURE },
      { ...original, signature: "0x" as const },
    ];
    for (const other of others) expect(await check(other)).toBe(false);
    expect(await check(original, new Date(VALID_UNTIL.getTime() + 60_000))).toBe(false);
  });
});

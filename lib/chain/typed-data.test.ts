import { hashTypedData, type TypedDataDefinition } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { safeOperationTypedData } from "@/lib/adapters/safe-account/encoding";
import { recoverJsonTypedData, toJsonTypedData } from "./typed-data";

const ADDRESS = "0x1111111111111111111111111111111111111111";

const operation = safeOperationTypedData({
  chainId: 31337,
  entryPoint: ADDRESS,
  module4337: ADDRESS,
  validUntil: new Date(1_800_000_000_000),
  operation: {
    sender: ADDRESS,
    nonce: 2n ** 200n + 5n,
    callData: "0x1234",
    callGasLimit: 1n,
    verificationGasLimit: 2n,
    preVerificationGas: 3n,
    maxFeePerGas: 4n,
    maxPriorityFeePerGas: 5n,
    signature: "0x",
  },
});

const json = toJsonTypedData(operation);

test("typed data as JSON survives being stored, and hashes to the same", () => {
  const read = JSON.parse(JSON.stringify(json)) as TypedDataDefinition;
  expect(hashTypedData(read)).toBe(hashTypedData(operation));
});

test("typed data as JSON names its domain's type and has no number beyond what JSON can carry", () => {
  expect(json.types.EIP712Domain).toEqual([
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ]);
  expect(json.domain).toEqual({ chainId: 31337, verifyingContract: ADDRESS });
  expect(json.message.nonce).toBe((2n ** 200n + 5n).toString());
  expect(json.message.validUntil).toBe("1800000000");
});

test("typed data as JSON tells who signed it, and nobody for what is no signature", async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  const signature = await account.signTypedData(operation);
  expect(await recoverJsonTypedData(json, signature)).toBe(account.address);
  expect(await recoverJsonTypedData(json, "0x1234")).toBeNull();
  const other = { ...json, message: { ...json.message, nonce: "7" } };
  expect(await recoverJsonTypedData(other, signature)).not.toBe(account.address);
});

import { numberToHex, concatHex, pad } from "viem";
import { expect, test } from "vitest";
import { bundleCallOf } from "./bundle-call";
import { operationsInCall, validUntilOf } from "./executed-operations";
import type { UserOperationFields } from "./user-operation";

const [ENTRY_POINT, PAYMASTER, EXECUTOR, ACCOUNT, FACTORY] = [1n, 2n, 3n, 4n, 5n].map(
  (number) => pad(numberToHex(number), { size: 20 }),
) as [`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`];
const VALID_UNTIL = 1_764_154_800;

const plain: UserOperationFields = {
  sender: ACCOUNT,
  nonce: 7n << 64n,
  callData: "0x1234",
  callGasLimit: 11n,
  verificationGasLimit: 12n,
  preVerificationGas: 13n,
  maxFeePerGas: 14n,
  maxPriorityFeePerGas: 15n,
  signature: concatHex([
    numberToHex(0, { size: 6 }),
    numberToHex(VALID_UNTIL, { size: 6 }),
    "0xabcdef",
  ]),
};
const sponsored: UserOperationFields = {
  ...plain,
  factory: FACTORY,
  factoryData: "0xbeef",
  paymaster: PAYMASTER,
  paymasterVerificationGasLimit: 16n,
  paymasterPostOpGasLimit: 17n,
  paymasterData: "0x",
};

const bundled = (operations: readonly UserOperationFields[]) =>
  bundleCallOf(
    { chainId: 1, entryPoint: ENTRY_POINT, paymaster: PAYMASTER, executor: EXECUTOR },
    operations,
  );

test.each([
  ["EntryPoint", [plain, { ...plain, nonce: 8n << 64n }]],
  ["the project's paymaster", [sponsored, plain]],
])(
  "the operations of a bundle through %s are read from its call data",
  (_through, operations) => {
    expect(operationsInCall(bundled(operations).data)).toEqual(operations);
  },
);

test("a call of another contract holds no operations", () => {
  expect(operationsInCall("0xa9059cbb")).toEqual([]);
  expect(operationsInCall("0x")).toEqual([]);
});

test("the end of an operation's validity is read from its signature", () => {
  expect(validUntilOf(plain)).toEqual(new Date(VALID_UNTIL * 1000));
});

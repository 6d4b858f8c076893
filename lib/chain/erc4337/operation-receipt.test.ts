import {
  encodeEventTopics,
  pad,
  parseAbi,
  toEventSelector,
  toHex,
  type Hex,
  type Log,
} from "viem";
import { expect, test } from "vitest";
import { operationsOf } from "./operation-receipt";

const ENTRY_POINT = "0x0000000071727De22E5E9d8BAf0edAc6f37da032";
const TOKEN = "0x2222222222222222222222222222222222222222";
const abi = parseAbi([
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
]);
const hashOf = (seed: number): Hex => pad(toHex(seed));

let index = 0;
const log = (address: Hex, topics: Log["topics"]): Log<bigint, number, false> => ({
  address,
  topics,
  data: "0x",
  logIndex: (index += 1),
  blockHash: hashOf(1),
  blockNumber: 1n,
  transactionHash: hashOf(2),
  transactionIndex: 0,
  removed: false,
});
const effect = (name: string) => log(TOKEN, [toHex(name, { size: 32 })]);
const end = (userOpHash: Hex, address: Hex = ENTRY_POINT) =>
  log(
    address,
    encodeEventTopics({
      abi,
      eventName: "UserOperationEvent",
      args: { userOpHash, sender: TOKEN, paymaster: TOKEN },
    }) as [Hex],
  );

const [validation, first, second, third] = [
  effect("validation"),
  effect("first"),
  effect("second"),
  effect("third"),
];
const start = log(ENTRY_POINT, [toEventSelector("BeforeExecution()")]);

const logsOf = (logs: Log<bigint, number, false>[], entryPoint: Hex, userOpHash: Hex) =>
  operationsOf(
    { transactionHash: hashOf(2), blockHash: hashOf(1), blockNumber: 1n, logs },
    entryPoint,
  )
    .get(userOpHash)
    ?.logs.map(({ logIndex }) => logIndex) ?? null;

const bundle = [
  validation,
  start,
  first,
  end(hashOf(11)),
  end(hashOf(12)),
  second,
  third,
  end(hashOf(13)),
];

test.each([
  [11, [first.logIndex]],
  [12, []],
  [13, [second.logIndex, third.logIndex]],
])("logs of a bundle: operation %i", (seed, expected) => {
  expect(logsOf(bundle, ENTRY_POINT, hashOf(seed))).toEqual(expected);
});

test("logs of a bundle: an operation that is not in it has none", () => {
  expect(logsOf(bundle, ENTRY_POINT, hashOf(14))).toBeNull();
});

test("logs of a bundle: a look-alike event of another contract neither ends nor begins an operation", () => {
  const fake = end(hashOf(11), TOKEN);
  expect(
    logsOf([start, first, fake, second, end(hashOf(12))], ENTRY_POINT, hashOf(12)),
  ).toEqual([first.logIndex, fake.logIndex, second.logIndex]);
  expect(logsOf([start, fake], ENTRY_POINT, hashOf(11))).toBeNull();
});

import {
  encodeAbiParameters,
  encodeEventTopics,
  pad,
  parseAbi,
  toHex,
  type Hex,
  type PublicClient,
} from "viem";
import { expect, test } from "vitest";
import type { ChainRegistry } from "@/lib/chain/registry";
import { createOperationFinder } from "./operation-receipt";

const ENTRY_POINT = "0x0000000071727De22E5E9d8BAf0edAc6f37da032";
const SENDER = "0x2222222222222222222222222222222222222222";
const CHAIN_ID = 1;
const abi = parseAbi([
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
]);
const hashOf = (seed: number): Hex => pad(toHex(seed));
const DATA = encodeAbiParameters(
  [{ type: "uint256" }, { type: "bool" }, { type: "uint256" }, { type: "uint256" }],
  [0n, true, 21n, 7n],
);

interface Range {
  readonly args: { readonly userOpHash: readonly Hex[] };
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/** A chain with operations in bundles; records each call. */
const newChain = (latest: bigint) => {
  const calls: string[] = [];
  const bundles = new Map<
    Hex,
    { blockNumber: bigint; blockHash: Hex; operations: readonly Hex[] }
  >();
  const logOf = (txHash: Hex, operation: Hex) => ({
    address: ENTRY_POINT,
    topics: encodeEventTopics({
      abi,
      eventName: "UserOperationEvent",
      args: { userOpHash: operation, sender: SENDER, paymaster: SENDER },
    }),
    data: DATA,
    logIndex: 0,
    transactionHash: txHash,
    blockHash: bundles.get(txHash)?.blockHash,
  });
  const client = {
    getBlockNumber: () => {
      calls.push("head");
      return Promise.resolve(latest);
    },
    getLogs: ({ args, fromBlock, toBlock }: Range) => {
      calls.push(`logs ${String(fromBlock)}-${String(toBlock)}`);
      const found = [...bundles].flatMap(([txHash, { blockNumber, operations }]) =>
        blockNumber < fromBlock || blockNumber > toBlock
          ? []
          : operations
              .filter((one) => args.userOpHash.includes(one))
              .map((one) => logOf(txHash, one)),
      );
      return Promise.resolve(found);
    },
    getTransactionReceipt: ({ hash }: { hash: Hex }) => {
      calls.push("receipt");
      const bundle = bundles.get(hash);
      return Promise.resolve({
        ...bundle,
        transactionHash: hash,
        logs: bundle?.operations.map((one) => logOf(hash, one)) ?? [],
      });
    },
  } as unknown as PublicClient;
  const registry = {
    get: () => ({ contracts: { entryPoint: ENTRY_POINT }, pollIntervalMs: 1 }),
    client: () => client,
    logRangeBlocks: () => 2_000n,
  } as unknown as ChainRegistry;
  return { calls, bundles, find: createOperationFinder(registry) };
};

const operations = Array.from({ length: 50 }, (_, index) => hashOf(index + 1));

test("fifty that wait in two bundles share one look at the head, one search, and a receipt per bundle", async () => {
  const { calls, bundles, find } = newChain(100n);
  bundles.set(hashOf(901), {
    blockNumber: 90n,
    blockHash: hashOf(801),
    operations: operations.slice(0, 30),
  });
  bundles.set(hashOf(902), {
    blockNumber: 91n,
    blockHash: hashOf(802),
    operations: operations.slice(30, 49),
  });
  const found = await Promise.all(operations.map((one) => find(CHAIN_ID, one, 80n)));
  expect(calls).toEqual(["head", "logs 80-100", "receipt", "receipt"]);
  expect(found.map((one) => one?.userOpHash)).toEqual([...operations.slice(0, 49), undefined]);
  expect(found.map((one) => one?.blockNumber)).toEqual([
    ...Array<bigint>(30).fill(90n),
    ...Array<bigint>(19).fill(91n),
    undefined,
  ]);
  expect(found[0]).toMatchObject({ success: true, actualGasCost: 21n, txHash: hashOf(901) });
  // A second query requests only the data that may have changed.
  await Promise.all(operations.map((one) => find(CHAIN_ID, one, 80n)));
  expect(calls.slice(4)).toEqual(["head", "logs 80-100"]);
});

test("a reorganisation shows at the next question: gone, and in another block", async () => {
  const { bundles, find } = newChain(100n);
  const [one = hashOf(1)] = operations;
  bundles.set(hashOf(901), { blockNumber: 90n, blockHash: hashOf(801), operations: [one] });
  expect((await find(CHAIN_ID, one, 80n))?.blockHash).toBe(hashOf(801));
  bundles.clear();
  expect(await find(CHAIN_ID, one, 80n)).toBeNull();
  bundles.set(hashOf(901), { blockNumber: 95n, blockHash: hashOf(805), operations: [one] });
  expect(await find(CHAIN_ID, one, 80n)).toMatchObject({
    blockHash: hashOf(805),
    blockNumber: 95n,
  });
});

test("one that goes far back is searched for by itself", async () => {
  const { calls, bundles, find } = newChain(10_000n);
  const [old = hashOf(1), recent = hashOf(2)] = operations;
  bundles.set(hashOf(901), { blockNumber: 5_000n, blockHash: hashOf(801), operations: [old] });
  bundles.set(hashOf(902), {
    blockNumber: 9_990n,
    blockHash: hashOf(802),
    operations: [recent],
  });
  const found = await Promise.all([
    find(CHAIN_ID, old, 4_000n),
    find(CHAIN_ID, recent, 9_900n),
  ]);
  expect(found.map((one) => one?.blockNumber)).toEqual([5_000n, 9_990n]);
  expect(calls.filter((call) => call.startsWith("logs")).sort()).toEqual([
    "logs 4000-5999",
    "logs 9900-10000",
  ]);
});

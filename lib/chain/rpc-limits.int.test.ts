import { parseAbi, type Address } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { startBareAnvil, type BareAnvil } from "@/lib/dev/testing/bare-anvil";
import { startFaultProxy, type FaultProxy } from "@/lib/dev/testing/fault-proxy";
import { compileContract } from "@/lib/dev/testing/solidity";
import { createChainRegistry } from "./registry";

const LOGGER = `
pragma solidity ^0.8.26;
contract Logger { event Logged(uint256 indexed number); fallback() external { emit Logged(block.number); } }
`;
const BLOCKS = 3_000n;
const ALLOWED = 1_000n;
const logged = parseAbi(["event Logged(uint256 indexed number)"]);

let chain: BareAnvil;
let proxy: FaultProxy;
let logger: Address;
let expected: bigint[];

beforeAll(async () => {
  chain = await startBareAnvil(31_391);
  proxy = await startFaultProxy(chain.url);
  const from = devAddress("deployer");
  const send = async (to: Address | null, data: `0x${string}`) => {
    const params = [{ from, ...(to === null ? {} : { to }), data, gas: "0x100000" }];
    const hash: `0x${string}` = await chain.client.request({
      method: "eth_sendTransaction",
      params,
    } as never);
    return chain.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  };
  const { contractAddress } = await send(null, compileContract("Logger", LOGGER).bytecode);
  if (!contractAddress) throw new Error("The logger was not deployed.");
  logger = contractAddress;
  expected = [];
  for (let part = 0; part < 4; part += 1) {
    expected.push((await send(logger, "0x01")).blockNumber);
    await chain.client.mine({ blocks: Number(BLOCKS) / 4 });
  }
});
afterAll(async () => {
  await proxy.close();
  await chain.stop();
});
beforeEach(() => proxy.clear());

const newRegistry = (own: { logRangeBlocks?: number; rpcBatchMax?: number } = {}) =>
  createChainRegistry([{ ...chain.config, ...own, rpcUrls: [proxy.url] }]);

const widthOf = (params: readonly unknown[]): bigint => {
  const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
  return BigInt(toBlock) - BigInt(fromBlock) + 1n;
};

const readAll = async (registry: ReturnType<typeof newRegistry>): Promise<bigint[]> => {
  const client = registry.client(chain.config.id);
  const toBlock = await client.getBlockNumber();
  const logs = await client.getLogs({
    address: logger,
    event: logged[0],
    fromBlock: 0n,
    toBlock,
  });
  return logs.map(({ blockNumber }) => blockNumber);
};

test("logs are read from a node that refuses ranges above 1,000 blocks, and the next search begins with what worked", async () => {
  const refused = proxy.on({
    methods: ["eth_getLogs"],
    when: ({ params }) => widthOf(params) > ALLOWED,
    fault: {
      kind: "error",
      code: -32_602,
      message: "You can make eth_getLogs requests with up to a 1000 block range",
    },
  });
  const registry = newRegistry({ logRangeBlocks: 5_000 });
  expect(await readAll(registry)).toEqual(expected);
  expect(refused.hits).toBeGreaterThan(0);
  expect(registry.logRangeBlocks(chain.config.id)).toBeLessThanOrEqual(ALLOWED);
  const before = refused.hits;
  expect(await readAll(registry)).toEqual(expected);
  expect(refused.hits).toBe(before);
});

test("the configured range is never exceeded", async () => {
  const wide = proxy.on({
    methods: ["eth_getLogs"],
    when: ({ params }) => widthOf(params) > 700n,
    fault: { kind: "error", code: -32_005, message: "query exceeds max block range" },
  });
  expect(await readAll(newRegistry({ logRangeBlocks: 700 }))).toEqual(expected);
  expect(wide.hits).toBe(0);
});

test("a node that lacks the newest blocks does not make later ranges smaller", async () => {
  const head = await chain.client.getBlockNumber();
  proxy.on({
    methods: ["eth_getLogs"],
    when: ({ params }) => BigInt((params[0] as { toBlock: string }).toBlock) > head - 3n,
    fault: { kind: "error", message: "block range extends beyond current head block" },
  });
  const registry = newRegistry();
  await expect(readAll(registry)).rejects.toThrow("beyond current head");
  expect(registry.logRangeBlocks(chain.config.id)).toBe(2_000n);
});

const CALLS = 40;
const askMany = async (registry: ReturnType<typeof newRegistry>): Promise<bigint[]> => {
  const client = registry.client(chain.config.id);
  const blocks = await Promise.all(
    Array.from({ length: CALLS }, (_, index) =>
      client.getBlock({ blockNumber: BigInt(index) }),
    ),
  );
  return blocks.map(({ number }) => number);
};
const NUMBERS = Array.from({ length: CALLS }, (_, index) => BigInt(index));

test.each([
  [
    "with one error in place of a list",
    10,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too many"}}',
  ],
  [
    "with a list of one error",
    3,
    '[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"batch too large"}}]',
  ],
  [
    "of any size",
    0,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}',
  ],
] as const)(
  "a node that refuses batches %s is asked in smaller ones",
  async (_, allowed, body) => {
    const refused = proxy.on({
      when: (_one, batchSize) => batchSize > allowed,
      fault: { kind: "garbage", body },
    });
    const registry = newRegistry();
    expect(await askMany(registry)).toEqual(NUMBERS);
    expect(refused.hits).toBeGreaterThan(0);
    const before = refused.hits;
    expect(await askMany(registry)).toEqual(NUMBERS);
    expect(refused.hits).toBe(before);
  },
);

test("a node that answers HTTP 413 to large batches is asked in smaller ones", async () => {
  proxy.on({
    when: (_one, batchSize) => batchSize > 8,
    fault: { kind: "status", status: 413 },
  });
  expect(await askMany(newRegistry())).toEqual(NUMBERS);
});

test("the configured batch is never exceeded", async () => {
  const large = proxy.on({
    when: (_one, batchSize) => batchSize > 7,
    fault: { kind: "status", status: 413 },
  });
  expect(await askMany(newRegistry({ rpcBatchMax: 7 }))).toEqual(NUMBERS);
  expect(large.hits).toBe(0);
});

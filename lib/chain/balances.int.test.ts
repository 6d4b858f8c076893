import { parseEther, toHex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { deployForeignMulticall } from "@/lib/dev/testing/foreign-multicall";
import { readBalances } from "./balances";
import { createChainRegistry } from "./registry";

const CHAIN = 31337;
const devnet = await testDevnet();
let requests = 0;
/** Requests longer than this are refused, as nodes and their proxies do. */
let bytesMax = Infinity;
const registry = createChainRegistry(devnet.chains, {
  fetchFn: (input, init) => {
    requests += 1;
    const size = typeof init?.body === "string" ? init.body.length : 0;
    return size > bytesMax
      ? Promise.resolve(new Response("too large", { status: 413 }))
      : fetch(input, init);
  },
});
const faucet = createFaucet({ registry });
const newAddress = () => privateKeyToAddress(generatePrivateKey());
const usdc = registry.resolveToken(CHAIN, "USDC");
const native = registry.native(CHAIN);

test("balances of a chain are those of every owner and token, of the chain's present block", async () => {
  const [rich, poor] = [newAddress(), newAddress()];
  await faucet.give(rich, usdc, 12_345_678n);
  await faucet.give(rich, native, parseEther("0.5"));
  const before = await registry.client(CHAIN).getBlock();
  const balances = await readBalances(registry, CHAIN, [rich, poor], registry.tokens(CHAIN));
  expect(balances.get(rich, usdc)).toBe(12_345_678n);
  expect(balances.get(rich, native)).toBe(parseEther("0.5"));
  expect(balances.get(poor, usdc)).toBe(0n);
  expect(balances.get(newAddress(), usdc)).toBeNull();
  expect(balances.blockNumber).toBeGreaterThanOrEqual(before.number);
  const { timestamp } = await registry
    .client(CHAIN)
    .getBlock({ blockNumber: balances.blockNumber });
  expect(balances.at).toEqual(new Date(Number(timestamp) * 1000));
});

test("thousands of balances come in one request", async () => {
  const owners = Array.from({ length: 500 }, (_, index) => toHex(index + 1, { size: 20 }));
  const last = newAddress();
  await faucet.give(last, usdc, 7n);
  requests = 0;
  const balances = await readBalances(
    registry,
    CHAIN,
    [...owners, last],
    registry.tokens(CHAIN),
  );
  expect(requests).toBe(1);
  expect(balances.get(last, usdc)).toBe(7n);
});

test("the balances of a hundred wallets and every token come in one request with one call", async () => {
  const owners = Array.from({ length: 100 }, newAddress);
  const tokens = registry.tokens(CHAIN);
  expect(tokens.length).toBeGreaterThanOrEqual(5);
  await faucet.give(owners[42] ?? newAddress(), usdc, 7n);
  requests = 0;
  const balances = await readBalances(registry, CHAIN, owners, tokens);
  expect(requests).toBe(1);
  expect(balances.get(owners[42] ?? newAddress(), usdc)).toBe(7n);
});

test("a node that refuses large requests is asked in halves, and a node that is down is not asked again", async () => {
  const owners = Array.from({ length: 100 }, newAddress);
  await faucet.give(owners[99] ?? newAddress(), usdc, 9n);
  bytesMax = 60_000;
  try {
    const balances = await readBalances(registry, CHAIN, owners, registry.tokens(CHAIN));
    expect(balances.get(owners[99] ?? newAddress(), usdc)).toBe(9n);
    expect(balances.get(owners[0] ?? newAddress(), usdc)).toBe(0n);
    bytesMax = 0;
    requests = 0;
    await expect(readBalances(registry, CHAIN, owners, registry.tokens(CHAIN))).rejects.toThrow(
      "does not answer",
    );
    expect(requests).toBeLessThanOrEqual(31);
  } finally {
    bytesMax = Infinity;
  }
  const nowhere = createChainRegistry(devnet.chains, {
    fetchFn: () => {
      requests += 1;
      return Promise.reject(new TypeError("refused"));
    },
  });
  requests = 0;
  await expect(readBalances(nowhere, CHAIN, owners, nowhere.tokens(CHAIN))).rejects.toThrow(
    "does not answer",
  );
  // One request, and one retry by the client itself.
  expect(requests).toBe(2);
});

test("the balance of a token that cannot be read is null and does not affect the others", async () => {
  const owner = newAddress();
  await faucet.give(owner, usdc, 7n);
  const spokePool = registry.get(CHAIN).contracts.across?.spokePool ?? usdc.address;
  const noCode = { ...usdc, address: newAddress() };
  const reverts = { ...usdc, address: spokePool };
  const balances = await readBalances(registry, CHAIN, [owner], [noCode, reverts, usdc]);
  expect([noCode, reverts, usdc].map((token) => balances.get(owner, token))).toEqual([
    null,
    null,
    7n,
  ]);
});

test("the block of balances is the chain's own where contracts name another chain's", async () => {
  const deployer = testAccount();
  await devnet.setCoins(deployer.address, "1");
  const multicall3 = await deployForeignMulticall(
    devnet.rpcUrls[String(CHAIN)] ?? "",
    deployer,
  );
  const chains = devnet.chains.map((chain) => ({
    ...chain,
    contracts: { ...chain.contracts, multicall3 },
  }));
  const foreign = createChainRegistry(chains);
  const head = await foreign.client(CHAIN).getBlockNumber({ cacheTime: 0 });
  const tokens = foreign.tokens(CHAIN);
  expect(
    (await readBalances(foreign, CHAIN, [deployer.address], tokens, head)).blockNumber,
  ).toBe(head);
  expect(
    (await readBalances(foreign, CHAIN, [deployer.address], tokens)).blockNumber,
  ).toBeGreaterThanOrEqual(head);
});

import { encodeFunctionData, erc20Abi, getAddress, multicall3Abi, type Address, type Hex } from "viem";
import { expect, test } from "vitest";
import { createChainRegistry, type ChainRegistry } from "@/lib/chains/registry";
import { systemClock } from "@/lib/core/clock";
import { createTicker } from "@/lib/core/ticker";
import type { Database } from "@/lib/db/client";
import { newId } from "@/lib/core/ids";
import { createFaucet } from "@/lib/devnet/faucet";
import { createFakeScreening } from "@/lib/ports/fakes/screening";
import { createScreeningService } from "@/lib/modules/screening/service";
import { testDatabase } from "@/lib/testing/database";
import { testConfig } from "@/lib/testing/devnet";
import { sendFromOutside } from "@/lib/testing/deposits";
import { testAccount } from "@/lib/testing/factories";
import { ownDevnet } from "@/lib/testing/own-devnet";
import { scanChain } from "./scan";
import { createDepositsService, type DepositsDeps } from "./service";

const CHAIN = 31337;
const CONFIRMATIONS = 4;
const devnet = await ownDevnet();
const chain = devnet.chains.find(({ chainId }) => chainId === CHAIN);
if (chain === undefined) throw new Error("The devnet has no chain 31337.");
const { database } = await testDatabase();
const { prisma } = database;
const { chains } = testConfig({ databaseUrl: "postgresql://unused@127.0.0.1:9/unused", rpcUrls: devnet.rpcUrls });
const configured = chains.map((each) => ({ ...each, confirmations: CONFIRMATIONS }));
const registry = createChainRegistry(configured);
const usdc = registry.resolveToken(CHAIN, "USDC");
const source = createFakeScreening();

const serviceWith = (over: Partial<DepositsDeps> = {}) =>
  createDepositsService({
    ...{ database, registry, clock: systemClock, ticker: createTicker() },
    screening: createScreeningService({ sources: [source], clock: systemClock }),
    prices: { priceUsd: (tokens) => Promise.resolve(tokens.map(() => "1")) },
    listener: { on: () => () => undefined },
    approvals: { requireApproval: () => Promise.reject(new Error("Nobody asks.")) },
    ...over,
  });
const deposits = serviceWith();

const newWallet = async (): Promise<{ id: string; address: Address }> => {
  const [id, projectId] = [newId("wallet"), newId("project")];
  const { address } = testAccount();
  const createdAt = new Date();
  await prisma.project.create({ data: { id: projectId, name: "Test", createdAt } });
  await prisma.wallet.create({ data: { id, projectId, kind: "treasury", address, keyId: id, createdAt } });
  return { id, address };
};

const rowsOf = (walletId: string) => prisma.deposit.findMany({ where: { walletId }, orderBy: { id: "asc" } });
const operationsOf = async (walletId: string) =>
  prisma.operation.findMany({ where: { id: { in: (await rowsOf(walletId)).map(({ id }) => id) } } });
const heldOf = async (address: string) =>
  (await prisma.balanceHold.findMany({ where: { walletAddress: address } })).map((hold) => hold.amountBase.toString());

/** Until everything that is final is decided. */
const settle = async (): Promise<void> => {
  await chain.mine(CONFIRMATIONS + 1);
  await deposits.follow(CHAIN);
};

await chain.hold();
await chain.mine(CONFIRMATIONS + 2);
await deposits.follow(CHAIN);

test("a deposit that a reorganisation removes counts for nothing, and is the same deposit when it comes back", async () => {
  const wallet = await newWallet();
  const sender = testAccount();
  source.set(sender.address, "hit");
  const hash = await sendFromOutside(registry, sender, { token: usdc, to: wallet.address, amountBase: 7n });
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "quarantined", isHeld: true }]);
  expect(await heldOf(wallet.address)).toEqual(["7"]);

  const tx = await chain.client.getTransaction({ hash });
  const raw = await chain.client.request({ method: "eth_getRawTransactionByHash" as never, params: [hash] as never });
  const head = await chain.client.getBlockNumber({ cacheTime: 0 });
  await chain.reorg(Number(head - tx.blockNumber) + 1);
  await chain.mine(1);
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "dropped", isHeld: false }]);
  expect(await heldOf(wallet.address)).toEqual([]);
  expect(await operationsOf(wallet.id)).toMatchObject([{ status: "failed", failure: { code: "deposit_dropped" } }]);

  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  await chain.mine(1);
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "quarantined", isHeld: true, txHash: hash }]);
  expect(await heldOf(wallet.address)).toEqual(["7"]);
  expect(await operationsOf(wallet.id)).toMatchObject([{ status: "processing", subStatus: "quarantined" }]);
  await settle();
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "quarantined" }]);
});

test("a deposit that a reorganisation puts into another block is credited once, at its new depth", async () => {
  const wallet = await newWallet();
  const hash = await sendFromOutside(registry, testAccount(), { token: usdc, to: wallet.address, amountBase: 9n });
  await deposits.follow(CHAIN);
  const [before] = await rowsOf(wallet.id);
  expect(before).toMatchObject({ state: "pending" });
  const raw = await chain.client.request({ method: "eth_getRawTransactionByHash" as never, params: [hash] as never });
  await chain.reorg(1);
  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  await chain.mine(2);
  await deposits.follow(CHAIN);
  const [moved] = await rowsOf(wallet.id);
  expect(moved).toMatchObject({ id: before?.id, state: "pending" });
  expect(moved?.blockNumber).toBeGreaterThan(before?.blockNumber ?? 0n);
  await settle();
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "credited", usdMicro: expect.anything() as unknown }]);
});

/** The same transaction as raw bytes, to be put into another block. */
const rawOf = (hash: Hex): Promise<Hex> =>
  chain.client.request({ method: "eth_getRawTransactionByHash" as never, params: [hash] as never });

test("when a reorganisation gives the logs of a transaction other places, each deposit has the amount that the chain says", async () => {
  const wallet = await newWallet();
  const { multicall3 } = registry.get(CHAIN).contracts;
  const faucet = createFaucet({ registry });
  await faucet.give(multicall3, usdc, 3n);
  const sender = testAccount();
  await faucet.give(sender.address, registry.native(CHAIN), 10n ** 18n);
  source.set(getAddress(multicall3), "hit");
  const calls = [1n, 2n].map((amount) => ({
    ...{ target: usdc.address as Address, allowFailure: false },
    callData: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [wallet.address, amount] }),
  }));
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] });
  const first = await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: testAccount().address,
    amountBase: 1n,
  });
  const serializedTransaction = await sender.signTransaction({
    ...{ chainId: CHAIN, nonce: 0, to: multicall3, data, gas: 300_000n, maxFeePerGas: 10n ** 10n },
  });
  const hash = await chain.client.sendRawTransaction({ serializedTransaction });
  await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  await deposits.follow(CHAIN);
  expect((await rowsOf(wallet.id)).map(({ logIndex, amountBase }) => [logIndex, Number(amountBase)])).toEqual([
    [0, 1],
    [1, 2],
  ]);
  await chain.reorg(2, [await rawOf(first), serializedTransaction]);
  await deposits.follow(CHAIN);
  const rows = await prisma.deposit.findMany({ where: { walletId: wallet.id, state: { not: "dropped" } } });
  const placed = rows.map(({ logIndex, amountBase, state }) => [logIndex, Number(amountBase), state]);
  expect(placed.sort()).toEqual([
    [1, 1, "quarantined"],
    [2, 2, "quarantined"],
  ]);
  expect(await heldOf(wallet.address)).toEqual(["3"]);
  const { quoted } = await prisma.operation.findUniqueOrThrow({
    where: { id: rows.find((row) => row.logIndex === 1)?.id ?? "" },
  });
  expect(quoted).toEqual({ expectedBase: "1", receivedBase: "1" });
  await settle();
  expect(await heldOf(wallet.address)).toEqual(["3"]);
});

test("a reorganisation that takes several turns to read again drops no deposit that is still there", async () => {
  const wallet = await newWallet();
  const sender = testAccount();
  source.set(sender.address, "hit");
  await sendFromOutside(registry, sender, { token: usdc, to: wallet.address, amountBase: 7n });
  await chain.mine(1);
  await deposits.follow(CHAIN);
  const [before] = await rowsOf(wallet.id);
  await chain.reorg(1);
  await chain.mine(1);
  await serviceWith({ blocksMax: 1n }).follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ id: before?.id, state: "quarantined", isHeld: true }]);
  const told = await prisma.operationEvent.findMany({ where: { operationId: before?.id ?? "" } });
  expect(told.map(({ type }) => type)).toEqual(["deposit.quarantined"]);
  expect(await heldOf(wallet.address)).toEqual(["7"]);
});

test("a deposit that cannot be moved on keeps no other one back, and is named", async () => {
  const [broken, whole] = [await newWallet(), await newWallet()];
  const sender = testAccount();
  await createFaucet({ registry }).give(sender.address, usdc, 8n);
  await sendFromOutside(registry, sender, { token: usdc, to: broken.address, amountBase: 7n });
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [whole.address, 8n] });
  const serializedTransaction = await sender.signTransaction({
    ...{ chainId: CHAIN, nonce: 1, to: usdc.address as Address, data, gas: 100_000n, maxFeePerGas: 10n ** 10n },
  });
  const hash = await chain.client.sendRawTransaction({ serializedTransaction });
  await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  await deposits.follow(CHAIN);
  const [row] = await rowsOf(broken.id);
  // It says that it is held, and there is no hold.
  await prisma.deposit.updateMany({ where: { walletId: broken.id }, data: { isHeld: true } });
  await chain.mine(CONFIRMATIONS + 1);
  await expect(deposits.follow(CHAIN)).rejects.toThrow(row?.id ?? "");
  expect(await rowsOf(whole.id)).toMatchObject([{ state: "credited" }]);
  await prisma.deposit.updateMany({ where: { walletId: broken.id }, data: { isHeld: false } });
  await deposits.follow(CHAIN);
  expect(await rowsOf(broken.id)).toMatchObject([{ state: "credited" }]);
});

test("an instance that dies after it has read, before it has stored, loses nothing and counts nothing twice", async () => {
  const wallet = await newWallet();
  await sendFromOutside(registry, testAccount(), { token: usdc, to: wallet.address, amountBase: 5n });
  const dying: Pick<Database, "rawTransaction"> = {
    rawTransaction: (work) =>
      database.rawTransaction(async (sql) => {
        await work(sql);
        throw new Error("killed");
      }),
  };
  const killed = serviceWith({ database: { ...database, ...dying } });
  await expect(killed.follow(CHAIN)).rejects.toThrow("killed");
  expect(await rowsOf(wallet.id)).toEqual([]);
  await Promise.all([deposits.follow(CHAIN), serviceWith().follow(CHAIN)]);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "pending" }]);
  // The same between two states.
  await chain.mine(CONFIRMATIONS + 1);
  await expect(killed.follow(CHAIN)).rejects.toThrow("killed");
  await Promise.all([deposits.follow(CHAIN), serviceWith().follow(CHAIN)]);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "credited" }]);
  const [row] = await rowsOf(wallet.id);
  const told = await prisma.eventOutbox.findMany({ where: { objectId: row?.id ?? "" }, orderBy: { position: "asc" } });
  expect(told.map(({ type }) => type)).toEqual(["deposit.detected", "deposit.credited"]);
});

interface RpcCall {
  readonly id: number;
  readonly method: string;
}

/** A node's answer to one call or to a batch of them. */
const answering = (body: string, answer: (call: RpcCall) => object): Response => {
  const asked = JSON.parse(body) as RpcCall | RpcCall[];
  const of = (call: RpcCall): object => ({ jsonrpc: "2.0", id: call.id, ...answer(call) });
  const json = JSON.stringify(Array.isArray(asked) ? asked.map(of) : of(asked));
  return new Response(json, { headers: { "content-type": "application/json" } });
};

/** The chain through a node that does not have the logs, nor the newest block unless `hasBlock`. */
const withoutLogs = (hasBlock: boolean): ChainRegistry =>
  createChainRegistry(configured, {
    fetchFn: async (input, init) => {
      const body = typeof init?.body === "string" ? init.body : "";
      if (!body.includes("eth_getLogs")) return fetch(input, init);
      const answers = (await (await fetch(input, init)).json()) as { readonly id: number; readonly result: unknown }[];
      const blocks = new Map(answers.map(({ id, result }) => [id, hasBlock ? result : null]));
      return answering(body, ({ id, method }) => ({ result: method === "eth_getLogs" ? [] : blocks.get(id) }));
    },
  });

test("the empty answer of a node that lacks the newest block is no answer", async () => {
  const wallet = await newWallet();
  await sendFromOutside(registry, testAccount(), { token: usdc, to: wallet.address, amountBase: 3n });
  const before = await prisma.depositScan.findUniqueOrThrow({ where: { chainId: CHAIN } });
  await serviceWith({ registry: withoutLogs(false) }).follow(CHAIN);
  expect(await prisma.depositScan.findUniqueOrThrow({ where: { chainId: CHAIN } })).toEqual(before);
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "pending" }]);
});

test("a deposit whose logs a node had later than its block is found when the block becomes final", async () => {
  const wallet = await newWallet();
  await sendFromOutside(registry, testAccount(), { token: usdc, to: wallet.address, amountBase: 3n });
  await serviceWith({ registry: withoutLogs(true) }).follow(CHAIN);
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toEqual([]);
  await settle();
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "credited" }]);
});

test("a turn ends with the block after which it would store too many deposits", async () => {
  const wallet = await newWallet();
  const sender = testAccount();
  for (let sent = 0; sent < 5; sent += 1)
    await sendFromOutside(registry, sender, { token: usdc, to: wallet.address, amountBase: 1n });
  const screening = createScreeningService({ sources: [source], clock: systemClock });
  const prices = { priceUsd: () => Promise.resolve([]) };
  const deps = { database, registry, screening, prices, clock: systemClock, tokenOf: () => usdc, rowsMax: 2 };
  const counts: number[] = [];
  for (let isMore = true; isMore; counts.push((await rowsOf(wallet.id)).length)) isMore = await scanChain(deps, CHAIN);
  expect(counts.at(-1)).toBe(5);
  const added = counts.map((count, index) => count - (counts[index - 1] ?? 0));
  expect(Math.max(...added)).toBeLessThanOrEqual(2);
});

test("a node that refuses the range is asked for smaller ones, and every deposit is found", async () => {
  const wallets = await Promise.all([newWallet(), newWallet()]);
  for (const { address } of wallets) {
    await sendFromOutside(registry, testAccount(), { token: usdc, to: address, amountBase: 3n });
    await chain.mine(20);
  }
  let refused = 0;
  const strict: ChainRegistry = createChainRegistry(configured, {
    fetchFn: async (input, init) => {
      const asked = JSON.parse(typeof init?.body === "string" ? init.body : "[]") as RpcCall | RpcCall[];
      const answers = [asked].flat().map(async (call): Promise<object> => {
        const body = JSON.stringify(call);
        const [, from = "0x0", to = "0x0"] = /"fromBlock":"(0x\w+)","toBlock":"(0x\w+)"/.exec(body) ?? [];
        if (Number(to) - Number(from) < 5) return (await fetch(input, { ...init, body })).json() as Promise<object>;
        refused += 1;
        const error = { code: -32005, message: "query exceeds max block range" };
        return { jsonrpc: "2.0", id: call.id, error };
      });
      const all = await Promise.all(answers);
      return Response.json(Array.isArray(asked) ? all : all[0]);
    },
  });
  await serviceWith({ registry: strict }).follow(CHAIN);
  expect(refused).toBeGreaterThan(0);
  for (const { id } of wallets) expect(await rowsOf(id)).toHaveLength(1);
});

test("with more wallets than a node looks for, all transfers are read, and the deposits of ours are found alone", async () => {
  const wallet = await newWallet();
  await sendFromOutside(registry, testAccount(), { token: usdc, to: wallet.address, amountBase: 3n });
  await sendFromOutside(registry, testAccount(), { token: usdc, to: testAccount().address, amountBase: 4n });
  const before = await prisma.deposit.count();
  await serviceWith({ recipientsMax: 0 }).follow(CHAIN);
  expect(await rowsOf(wallet.id)).toHaveLength(1);
  expect(await prisma.deposit.count()).toBe(before + 1);
});

test("hundreds of dust deposits in one block are stored and credited in batches", async () => {
  const wallet = await newWallet();
  const sender = testAccount();
  await createFaucet({ registry }).give(sender.address, registry.native(CHAIN), 10n ** 18n);
  await createFaucet({ registry }).give(sender.address, usdc, 1_000n);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [wallet.address, 1n] });
  const nonce = await chain.client.getTransactionCount({ address: sender.address });
  await chain.client.setAutomine(false);
  try {
    for (let sent = 0; sent < 600; sent += 1) {
      const serializedTransaction = await sender.signTransaction({
        ...{ chainId: CHAIN, nonce: nonce + sent, to: usdc.address as Address, data, gas: 100_000n },
        ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n },
      });
      await chain.client.sendRawTransaction({ serializedTransaction });
    }
    await chain.mine(1);
  } finally {
    await chain.client.setAutomine(true);
  }
  await settle();
  const states = await prisma.deposit.groupBy({ by: ["state"], where: { walletId: wallet.id }, _count: true });
  expect(states).toMatchObject([{ state: "credited", _count: 600 }]);
});

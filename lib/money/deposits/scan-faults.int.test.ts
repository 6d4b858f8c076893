import { encodeFunctionData, erc20Abi, getAddress, multicall3Abi, type Address } from "viem";
import { expect, test } from "vitest";
import { createChainRegistry, type ChainRegistry } from "@/lib/chain/registry";
import type { Database } from "@/lib/platform/db/client";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { sendFromOutside } from "@/lib/dev/testing/deposits";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  CHAIN,
  CONFIRMATIONS,
  depositScans,
  type RpcCall,
} from "@/lib/dev/testing/deposit-scans";

const {
  chain,
  database,
  prisma,
  chains,
  configured,
  registry,
  usdc,
  source,
  deposits,
  serviceWith,
  newWallet,
  rowsOf,
  operationsOf,
  heldOf,
  rawOf,
  settle,
} = await depositScans();

test("a deposit that a reorganisation removes counts for nothing, and is the same deposit when it comes back", async () => {
  const wallet = await newWallet();
  const sender = testAccount();
  source.set(sender.address, "hit");
  const hash = await sendFromOutside(registry, sender, {
    token: usdc,
    to: wallet.address,
    amountBase: 7n,
  });
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "quarantined", isHeld: true }]);
  expect(await heldOf(wallet.address)).toEqual(["7"]);

  const tx = await chain.client.getTransaction({ hash });
  const raw = await chain.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  });
  const head = await chain.client.getBlockNumber({ cacheTime: 0 });
  await chain.reorg(Number(head - tx.blockNumber) + 1);
  await chain.mine(1);
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "dropped", isHeld: false }]);
  expect(await heldOf(wallet.address)).toEqual([]);
  expect(await operationsOf(wallet.id)).toMatchObject([
    { status: "failed", failure: { code: "deposit_dropped" } },
  ]);

  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  await chain.mine(1);
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([
    { state: "quarantined", isHeld: true, txHash: hash },
  ]);
  expect(await heldOf(wallet.address)).toEqual(["7"]);
  expect(await operationsOf(wallet.id)).toMatchObject([
    { status: "processing", subStatus: "quarantined" },
  ]);
  await settle();
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "quarantined" }]);
});

test("dust is counted as the chain has it: a reorganisation takes it away and brings it back, and no look at it counts it twice", async () => {
  const dusty = serviceWith({
    registry: createChainRegistry(
      chains.map((each) => ({ ...each, confirmations: CONFIRMATIONS })),
    ),
  });
  const wallet = await newWallet();
  const { projectId } = await prisma.wallet.findFirstOrThrow({ where: { id: wallet.id } });
  const actor = {
    type: "user",
    userId: "usr_1",
    sessionId: "ses_1",
    projectId,
    role: "owner",
  } as const;
  const counted = async () =>
    (await dusty.dust(actor)).map(({ sum }) => [sum.count, sum.totalBase, sum.token]);
  const line = [1, 7n, usdc.address.toLowerCase()];
  const hash = await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: wallet.address,
    amountBase: 7n,
  });
  await dusty.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "dust", isHeld: false }]);
  expect(await counted()).toEqual([line]);
  const raw = await rawOf(hash);
  const { blockNumber } = await chain.client.getTransaction({ hash });
  const head = await chain.client.getBlockNumber({ cacheTime: 0 });
  await chain.reorg(Number(head - blockNumber) + 1);
  await chain.mine(1);
  await dusty.follow(CHAIN);
  expect(await counted()).toEqual([]);

  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  await chain.mine(1);
  await dusty.follow(CHAIN);
  expect(await counted()).toEqual([line]);
  // The block becomes final and is read once more.
  await chain.mine(CONFIRMATIONS + 1);
  await Promise.all(Array.from({ length: 4 }, () => dusty.follow(CHAIN)));
  await dusty.follow(CHAIN);
  expect([await counted(), await rowsOf(wallet.id)]).toEqual([[line], []]);
  expect(await prisma.operation.count({ where: { projectId } })).toBe(0);
  expect(await prisma.eventOutbox.count({ where: { projectId } })).toBe(0);

  // A listed sender's money never counts as dust, or the sender could send any amount in small
  // parts.
  const listed = testAccount();
  source.set(listed.address, "hit");
  await sendFromOutside(registry, listed, { token: usdc, to: wallet.address, amountBase: 7n });
  await dusty.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "quarantined", isHeld: true }]);
  await settle();
});

test("a deposit that a reorganisation puts into another block is credited once, at its new depth", async () => {
  const wallet = await newWallet();
  const hash = await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: wallet.address,
    amountBase: 9n,
  });
  await deposits.follow(CHAIN);
  const [before] = await rowsOf(wallet.id);
  expect(before).toMatchObject({ state: "pending" });
  const raw = await chain.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  });
  await chain.reorg(1);
  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  await chain.mine(2);
  await deposits.follow(CHAIN);
  const [moved] = await rowsOf(wallet.id);
  expect(moved).toMatchObject({ id: before?.id, state: "pending" });
  expect(moved?.blockNumber).toBeGreaterThan(before?.blockNumber ?? 0n);
  await settle();
  expect(await rowsOf(wallet.id)).toMatchObject([
    { state: "credited", usdMicro: expect.anything() as unknown },
  ]);
});

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
    callData: encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [wallet.address, amount],
    }),
  }));
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [calls],
  });
  const first = await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: testAccount().address,
    amountBase: 1n,
  });
  const serializedTransaction = await sender.signTransaction({
    ...{
      chainId: CHAIN,
      nonce: 0,
      to: multicall3,
      data,
      gas: 300_000n,
      maxFeePerGas: 10n ** 10n,
    },
  });
  const hash = await chain.client.sendRawTransaction({ serializedTransaction });
  await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  await deposits.follow(CHAIN);
  expect(
    (await rowsOf(wallet.id)).map(({ logIndex, amountBase }) => [logIndex, Number(amountBase)]),
  ).toEqual([
    [0, 1],
    [1, 2],
  ]);
  await chain.reorg(2, [await rawOf(first), serializedTransaction]);
  await deposits.follow(CHAIN);
  const rows = await prisma.deposit.findMany({
    where: { walletId: wallet.id, state: { not: "dropped" } },
  });
  const placed = rows.map(({ logIndex, amountBase, state }) => [
    logIndex,
    Number(amountBase),
    state,
  ]);
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
  expect(await rowsOf(wallet.id)).toMatchObject([
    { id: before?.id, state: "quarantined", isHeld: true },
  ]);
  const told = await prisma.operationEvent.findMany({
    where: { operationId: before?.id ?? "" },
  });
  expect(told.map(({ type }) => type)).toEqual(["deposit.quarantined"]);
  expect(await heldOf(wallet.address)).toEqual(["7"]);
});

test("a deposit that cannot be moved on keeps no other one back, and is named", async () => {
  const [broken, whole] = [await newWallet(), await newWallet()];
  const sender = testAccount();
  await createFaucet({ registry }).give(sender.address, usdc, 8n);
  await sendFromOutside(registry, sender, { token: usdc, to: broken.address, amountBase: 7n });
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [whole.address, 8n],
  });
  const serializedTransaction = await sender.signTransaction({
    ...{
      chainId: CHAIN,
      nonce: 1,
      to: usdc.address as Address,
      data,
      gas: 100_000n,
      maxFeePerGas: 10n ** 10n,
    },
  });
  const hash = await chain.client.sendRawTransaction({ serializedTransaction });
  await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  await deposits.follow(CHAIN);
  const [row] = await rowsOf(broken.id);
  // The deposit is marked as held, but its hold is missing.
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
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: wallet.address,
    amountBase: 5n,
  });
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
  // The same scenario between two other states.
  await chain.mine(CONFIRMATIONS + 1);
  await expect(killed.follow(CHAIN)).rejects.toThrow("killed");
  await Promise.all([deposits.follow(CHAIN), serviceWith().follow(CHAIN)]);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "credited" }]);
  const [row] = await rowsOf(wallet.id);
  const told = await prisma.eventOutbox.findMany({
    where: { objectId: row?.id ?? "" },
    orderBy: { position: "asc" },
  });
  expect(told.map(({ type }) => type)).toEqual(["deposit.detected", "deposit.credited"]);
});

/** Rewrites a node's answer to one call or to a batch of calls. */
const answering = (body: string, answer: (call: RpcCall) => object): Response => {
  const asked = JSON.parse(body) as RpcCall | RpcCall[];
  const of = (call: RpcCall): object => ({ jsonrpc: "2.0", id: call.id, ...answer(call) });
  const json = JSON.stringify(Array.isArray(asked) ? asked.map(of) : of(asked));
  return new Response(json, { headers: { "content-type": "application/json" } });
};

/** The chain through a node that lacks the logs, and also the newest block unless `hasBlock`. */
const withoutLogs = (hasBlock: boolean): ChainRegistry =>
  createChainRegistry(configured, {
    fetchFn: async (input, init) => {
      const body = typeof init?.body === "string" ? init.body : "";
      if (!body.includes("eth_getLogs")) return fetch(input, init);
      const answers = (await (await fetch(input, init)).json()) as {
        readonly id: number;
        readonly result: unknown;
      }[];
      const blocks = new Map(answers.map(({ id, result }) => [id, hasBlock ? result : null]));
      return answering(body, ({ id, method }) => ({
        result: method === "eth_getLogs" ? [] : blocks.get(id),
      }));
    },
  });

test("the empty answer of a node that lacks the newest block is no answer", async () => {
  const wallet = await newWallet();
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: wallet.address,
    amountBase: 3n,
  });
  const before = await prisma.depositScan.findUniqueOrThrow({ where: { chainId: CHAIN } });
  await serviceWith({ registry: withoutLogs(false) }).follow(CHAIN);
  expect(await prisma.depositScan.findUniqueOrThrow({ where: { chainId: CHAIN } })).toEqual(
    before,
  );
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "pending" }]);
});

test("a deposit whose logs a node had later than its block is found when the block becomes final", async () => {
  const wallet = await newWallet();
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: wallet.address,
    amountBase: 3n,
  });
  await serviceWith({ registry: withoutLogs(true) }).follow(CHAIN);
  await deposits.follow(CHAIN);
  expect(await rowsOf(wallet.id)).toEqual([]);
  await settle();
  expect(await rowsOf(wallet.id)).toMatchObject([{ state: "credited" }]);
});

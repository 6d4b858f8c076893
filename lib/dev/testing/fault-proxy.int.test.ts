import { createPublicClient, http, keccak256, parseEther, parseGwei, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, expect, onTestFinished, test } from "vitest";
import { startBareAnvil } from "./bare-anvil";
import { startFaultProxy, type Stage } from "./fault-proxy";

const CHAIN_ID = 51_337;
const anvil = await startBareAnvil(CHAIN_ID, ["--no-mining"]);
const proxy = await startFaultProxy(anvil.url);
afterAll(async () => {
  await proxy.close();
  await anvil.stop();
});
afterEach(() => {
  proxy.clear();
});

const TIMEOUT_MS = 2_000;
const clientOf = (url: string) =>
  createPublicClient({ transport: http(url, { timeout: TIMEOUT_MS, retryCount: 0 }) });
const single = clientOf(proxy.url);
const batched = createPublicClient({
  transport: http(proxy.url, { timeout: TIMEOUT_MS, retryCount: 0, batch: { wait: 0 } }),
});

const RECIPIENT = "0x00000000000000000000000000000000000000aa";
const newTransaction = async (): Promise<Hex> => {
  const account = privateKeyToAccount(generatePrivateKey());
  await anvil.client.setBalance({ address: account.address, value: parseEther("1") });
  return account.signTransaction({
    chainId: CHAIN_ID,
    to: RECIPIENT,
    value: 1n,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: parseGwei("20"),
    maxPriorityFeePerGas: 1n,
  });
};
const isOnChain = async (raw: Hex): Promise<boolean> => {
  await anvil.client.mine({ blocks: 1 });
  return anvil.client.getTransactionReceipt({ hash: keccak256(raw) }).then(
    () => true,
    () => false,
  );
};

test("without rules every answer is the chain's, of a call and of a batch", async () => {
  expect(await single.getChainId()).toBe(CHAIN_ID);
  const [id, block, balance] = await Promise.all([
    batched.getChainId(),
    batched.getBlockNumber({ cacheTime: 0 }),
    batched.getBalance({ address: RECIPIENT }),
  ]);
  expect([id, block, balance]).toEqual([
    CHAIN_ID,
    await anvil.client.getBlockNumber({ cacheTime: 0 }),
    balance,
  ]);
  await expect(
    single.call({ to: RECIPIENT, data: "0x", value: parseEther("1"), account: RECIPIENT }),
  ).rejects.toThrow();
});

test.each([
  ["hang", { kind: "hang" }, /took too long/],
  ["HTTP 500", { kind: "status", status: 500 }, /Status: 500/],
  ["garbage", { kind: "garbage", body: "<html>busy" }, /HTTP request failed/],
  ["a delay beyond the deadline", { kind: "delay", ms: 2 * TIMEOUT_MS }, /took too long/],
  [
    "an error of the node",
    { kind: "error", message: "limit exceeded", code: -32005 },
    /limit exceeded/,
  ],
] as const)(
  "%s reaches the client as what it is, and ends with the rule",
  async (_, fault, message) => {
    const rule = proxy.on({ fault });
    await expect(single.getChainId()).rejects.toThrow(message);
    expect(rule.hits).toBe(1);
    rule.off();
    expect(await single.getChainId()).toBe(CHAIN_ID);
  },
);

test("a rule can mean some methods, begin at the k-th call and end after n", async () => {
  const rule = proxy.on({
    fault: { kind: "error", message: "no" },
    methods: ["eth_blockNumber"],
    after: 1,
    times: 2,
  });
  const outcomes: string[] = [];
  for (let turn = 0; turn < 5; turn++) {
    expect(await single.getChainId()).toBe(CHAIN_ID);
    outcomes.push(
      await single.getBlockNumber({ cacheTime: 0 }).then(
        () => "answer",
        () => "error",
      ),
    );
  }
  expect(outcomes).toEqual(["answer", "error", "error", "answer", "answer"]);
  expect(rule.hits).toBe(2);
});

test("of a batch an error hits its call alone", async () => {
  proxy.on({ fault: { kind: "error", message: "no" }, methods: ["eth_blockNumber"] });
  const outcomes = await Promise.allSettled([
    batched.getChainId(),
    batched.getBlockNumber({ cacheTime: 0 }),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});

test("a swallowed broadcast is answered with its hash and never mined", async () => {
  proxy.on({ fault: { kind: "swallow" }, methods: ["eth_sendRawTransaction"] });
  const raw = await newTransaction();
  expect(await single.sendRawTransaction({ serializedTransaction: raw })).toBe(keccak256(raw));
  expect(await isOnChain(raw)).toBe(false);
});

test("a broadcast whose answer is lost is mined all the same", async () => {
  proxy.on({ fault: { kind: "lose_answer" }, methods: ["eth_sendRawTransaction"] });
  const raw = await newTransaction();
  await expect(single.sendRawTransaction({ serializedTransaction: raw })).rejects.toThrow(
    /HTTP request failed/,
  );
  expect(await isOnChain(raw)).toBe(true);
});

test("a refused broadcast is not mined", async () => {
  proxy.on({
    fault: { kind: "error", message: "already known" },
    methods: ["eth_sendRawTransaction"],
  });
  const raw = await newTransaction();
  await expect(single.sendRawTransaction({ serializedTransaction: raw })).rejects.toThrow(
    /already known/,
  );
  expect(await isOnChain(raw)).toBe(false);
});

test("a lagging node knows nothing of the latest blocks, and is right about all others", async () => {
  const raw = await newTransaction();
  const before = await anvil.client.getBalance({ address: RECIPIENT });
  await anvil.client.mine({ blocks: 3 });
  await anvil.client.sendRawTransaction({ serializedTransaction: raw });
  const hash = keccak256(raw);
  await anvil.client.mine({ blocks: 1 });
  const head = await anvil.client.getBlockNumber({ cacheTime: 0 });
  const rule = proxy.on({ fault: { kind: "lag", blocks: 2 } });
  expect(await single.getBlockNumber({ cacheTime: 0 })).toBe(head - 2n);
  expect((await single.getBlock()).number).toBe(head - 2n);
  expect(await single.getBalance({ address: RECIPIENT })).toBe(before);
  await expect(single.getTransactionReceipt({ hash })).rejects.toThrow(/could not be found/);
  await expect(single.getBlock({ blockNumber: head })).rejects.toThrow(/could not be found/);
  expect(await single.getLogs({ fromBlock: head, toBlock: head })).toEqual([]);
  await anvil.client.mine({ blocks: 2 });
  expect(await single.getBalance({ address: RECIPIENT })).toBe(before + 1n);
  expect((await single.getTransactionReceipt({ hash })).status).toBe("success");
  expect(rule.hits).toBeGreaterThan(0);
});

test("whoever watches sees each request before and after, and may end it there", async () => {
  // A separate proxy, because delayed answers of the tests above may still be on their way in
  // theirs.
  const seen: { stage: Stage; methods: readonly string[] }[] = [];
  let cutAt: Stage | null = null;
  const watched = await startFaultProxy(anvil.url, {
    watch: (stage, methods) => {
      seen.push({ stage, methods });
      return stage === cutAt ? "cut" : "go";
    },
  });
  onTestFinished(() => watched.close());
  const client = clientOf(watched.url);
  await client.getChainId();
  expect(seen).toEqual([
    { stage: "before", methods: ["eth_chainId"] },
    { stage: "after", methods: ["eth_chainId"] },
  ]);
  const [first, second] = [await newTransaction(), await newTransaction()];
  cutAt = "before";
  await expect(client.sendRawTransaction({ serializedTransaction: first })).rejects.toThrow();
  cutAt = "after";
  await expect(client.sendRawTransaction({ serializedTransaction: second })).rejects.toThrow();
  expect([await isOnChain(first), await isOnChain(second)]).toEqual([false, true]);
});

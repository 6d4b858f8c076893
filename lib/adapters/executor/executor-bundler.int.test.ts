import { pino } from "pino";
import { encodeFunctionData, erc20Abi, parseAbi, parseEther, type Hex } from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, expect, test, vi } from "vitest";
import { gasTotalOf, packUserOperation } from "@/lib/chain/erc4337/user-operation";
import { createChainRegistry } from "@/lib/chain/registry";
import { rpcFetch } from "@/lib/chain/rpc-http";
import { systemClock } from "@/lib/core/clock";
import { createChainTransactionsService } from "@/lib/chain/transactions/service";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import { bundlerContract } from "@/lib/chain/ports/bundler.contract";
import type { Call, EvmAddress } from "@/lib/core/evm";
import { startOperationChain } from "@/lib/dev/testing/bundler-harness";
import { testDatabase } from "@/lib/dev/testing/database";
import { createExecutorBundler } from "./executor-bundler";

const { database } = await testDatabase();
const chain = await startOperationChain(41_338);
afterAll(() => chain.anvil.stop());

const transactions = createChainTransactionsService({
  database,
  registry: chain.registry,
  signer: chain.signer,
  clock: systemClock,
  log: pino({ level: "silent" }),
});

const bundler = createExecutorBundler({
  registry: chain.registry,
  transactions,
  executorAddress: chain.executor,
});

bundlerContract("executor", () => Promise.resolve(chain.harness(bundler)));

const harness = chain.harness(bundler);
const { client } = chain.anvil;
const HOUR_MS = 3_600_000;
const GWEI = 10n ** 9n;
let recipients = 1n << 100n;

const newRecipient = (): EvmAddress => `0x${(recipients += 1n).toString(16).padStart(40, "0")}`;

const transfer = (to: EvmAddress, amountBase: bigint): Call => ({
  to: chain.token,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amountBase] }),
  value: 0n,
});

const newWallet = async () => {
  const owner = await harness.newOwner();
  const address = await harness.accounts.addressOf(owner.address);
  await harness.giveToken(address, 1_000n);
  await harness.giveNative(address, parseEther("1"));
  return { ...owner, account: address };
};
type Wallet = Awaited<ReturnType<typeof newWallet>>;

const draft = async (
  wallet: Wallet,
  calls: readonly Call[],
  key: bigint,
): Promise<UserOperation> =>
  harness.accounts.draft({
    chainId: harness.chainId,
    ownerAddress: wallet.address,
    calls,
    nonceKey: key,
    fees: await bundler.fees(harness.chainId),
    sponsored: false,
  });

const signed = async (wallet: Wallet, calls: readonly Call[], key: bigint) => {
  const drafted = await draft(wallet, calls, key);
  const gas = await bundler.estimateGas(harness.chainId, drafted);
  const validUntil = new Date((await harness.chainTime()).getTime() + HOUR_MS);
  const prepared = harness.accounts.prepare({
    chainId: harness.chainId,
    draft: drafted,
    gas,
    validUntil,
  });
  return {
    userOpHash: prepared.userOpHash,
    operation: await harness.accounts.sign(wallet.scope, prepared),
  };
};

const received = (userOpHash: Hex) =>
  vi.waitFor(
    async () => {
      const receipt = await bundler.receipt(harness.chainId, userOpHash, 0n);
      if (receipt === null) throw new Error("not mined yet");
      return receipt;
    },
    { timeout: 20_000, interval: 20 },
  );

const execute = async (wallet: Wallet, calls: readonly Call[], key: bigint) => {
  const { operation, userOpHash } = await signed(wallet, calls, key);
  await bundler.submit(harness.chainId, operation);
  return received(userOpHash);
};

/** Bundles the operations in a transaction of an account that does not belong to the service. */
const bundleElsewhere = async (operations: readonly UserOperation[]): Promise<void> => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  await client.setBalance({ address: stranger.address, value: parseEther("10") });
  const raw = await stranger.signTransaction({
    type: "eip1559",
    chainId: harness.chainId,
    nonce: 0,
    gas: 5_000_000n,
    maxFeePerGas: 10n * GWEI,
    maxPriorityFeePerGas: GWEI,
    to: chain.entryPoint,
    data: encodeFunctionData({
      abi: entryPoint07Abi,
      functionName: "handleOps",
      args: [operations.map(packUserOperation), stranger.address],
    }),
  });
  const hash = await client.sendRawTransaction({ serializedTransaction: raw });
  await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
};

test("executor alone operations of a foreign bundle each get their own receipt and logs", async () => {
  const wallets = [await newWallet(), await newWallet()];
  const to = wallets.map(newRecipient);
  const operations = await Promise.all(
    wallets.map((wallet, index) =>
      signed(wallet, [transfer(to[index] ?? "0x", BigInt(index + 1))], 1n),
    ),
  );
  await bundleElsewhere(operations.map(({ operation }) => operation));
  const receipts = await Promise.all(operations.map(({ userOpHash }) => received(userOpHash)));
  expect(new Set(receipts.map(({ txHash }) => txHash)).size).toBe(1);
  const recipientsOf = receipts.map(({ logs }) =>
    logs
      .filter((log) => log.address === chain.token.toLowerCase())
      .map((log) => BigInt(log.topics[2] ?? 0)),
  );
  expect(recipientsOf).toEqual(to.map((one) => [BigInt(one)]));
});

test("executor alone a bundle that reverted is replaced by another one, and the operation is executed", async () => {
  const wallet = await newWallet();
  const to = newRecipient();
  const { operation, userOpHash } = await signed(wallet, [transfer(to, 3n)], 1n);
  // A bundle whose gas limit is too low, so that it reverts.
  await transactions.send({
    chainId: harness.chainId,
    keyId: "executor",
    purpose: `test:${userOpHash}`,
    carries: [{ userOpHash, after: null }],
    to: chain.entryPoint,
    data: encodeFunctionData({
      abi: entryPoint07Abi,
      functionName: "handleOps",
      args: [[packUserOperation(operation)], chain.executor],
    }),
    value: 0n,
    gas: 100_000n,
    fees: await bundler.fees(harness.chainId),
  });
  await vi.waitFor(
    async () => {
      await transactions.reconcile(harness.chainId);
      await bundler.submit(harness.chainId, operation);
      expect(await bundler.receipt(harness.chainId, userOpHash, 0n)).not.toBeNull();
    },
    { timeout: 20_000, interval: 100 },
  );
  expect(await harness.tokenBalance(to)).toBe(3n);
});

test("executor alone the operations of a bundle that reverted go again, without the one that made it revert", async () => {
  const wallet = await newWallet();
  await execute(wallet, [transfer(newRecipient(), 1n)], 1n);
  const to = Array.from({ length: 3 }, newRecipient);
  const all = await Promise.all(
    to.map((one, index) => signed(wallet, [transfer(one, 5n)], BigInt(20 + index))),
  );
  // A stranger copies the second operation from the pending bundle and is mined first, so our
  // bundle reverts with AA25.
  await bundleElsewhere(all.slice(1, 2).map(({ operation }) => operation));
  await transactions.send({
    chainId: harness.chainId,
    keyId: "executor",
    purpose: `test:${all[0]?.userOpHash ?? ""}`,
    to: chain.entryPoint,
    data: encodeFunctionData({
      abi: entryPoint07Abi,
      functionName: "handleOps",
      args: [all.map(({ operation }) => packUserOperation(operation)), chain.executor],
    }),
    value: 0n,
    gas: 3_000_000n,
    fees: await bundler.fees(harness.chainId),
    carries: all.map(({ userOpHash }) => ({ userOpHash, after: null })),
  });
  await vi.waitFor(
    async () => {
      await transactions.reconcile(harness.chainId);
      await Promise.allSettled(
        all.map(({ operation }) => bundler.submit(harness.chainId, operation)),
      );
      const receipts = await Promise.all(
        all.map(({ userOpHash }) => bundler.receipt(harness.chainId, userOpHash, 0n)),
      );
      expect(receipts.map((receipt) => receipt?.success)).toEqual([true, true, true]);
      // The two remaining operations share one transaction.
      expect(receipts[0]?.txHash).toBe(receipts[2]?.txHash);
    },
    { timeout: 20_000, interval: 100 },
  );
  expect(await Promise.all(to.map((one) => harness.tokenBalance(one)))).toEqual([5n, 5n, 5n]);
});

test("executor alone operations that somebody else holds too are bundled with no other, from the first time on", async () => {
  const wallet = await newWallet();
  await execute(wallet, [transfer(newRecipient(), 1n)], 1n);
  const to = Array.from({ length: 5 }, newRecipient);
  const all = await Promise.all(
    to.map((one, index) => signed(wallet, [transfer(one, 2n)], BigInt(30 + index))),
  );
  const isHeldElsewhere = [false, true, false, true, false];
  await Promise.all(
    all.map(({ operation }, index) =>
      bundler.submit(harness.chainId, operation, {
        isHeldElsewhere: isHeldElsewhere[index] ?? false,
      }),
    ),
  );
  const receipts = await Promise.all(all.map(({ userOpHash }) => received(userOpHash)));
  expect(receipts.map(({ success }) => success)).toEqual(to.map(() => true));
  const [first, second, third, fourth, fifth] = receipts.map(({ txHash }) => txHash);
  // The operations of accounts whose keys the service holds share one transaction.
  expect([third, fifth]).toEqual([first, first]);
  expect(new Set([first, second, fourth]).size).toBe(3);
});

test("executor alone two instances that are given the same operations at once execute each once, and no bundle reverts", async () => {
  const wallet = await newWallet();
  await execute(wallet, [transfer(newRecipient(), 1n)], 1n);
  const to = Array.from({ length: 12 }, newRecipient);
  const all = await Promise.all(
    to.map((one, index) => signed(wallet, [transfer(one, 2n)], BigInt(40 + index))),
  );
  const nonceBefore = await client.getTransactionCount({ address: chain.executor });
  const instances = [
    bundler,
    createExecutorBundler({
      registry: chain.registry,
      transactions,
      executorAddress: chain.executor,
    }),
  ];
  await Promise.all(
    instances.flatMap((instance, turn) =>
      // Each instance submits in a different order, so that their bundles overlap partly.
      [...all.slice(turn * 4), ...all.slice(0, turn * 4)].map(({ operation }) =>
        instance.submit(harness.chainId, operation),
      ),
    ),
  );
  const receipts = await Promise.all(all.map(({ userOpHash }) => received(userOpHash)));
  expect(receipts.every(({ success }) => success)).toBe(true);
  expect(await Promise.all(to.map((one) => harness.tokenBalance(one)))).toEqual(
    to.map(() => 2n),
  );
  // Every transaction of the executor contains at least one of the operations, so none wasted gas.
  const bundles = new Set(receipts.map(({ txHash }) => txHash));
  expect(await client.getTransactionCount({ address: chain.executor })).toBe(
    nonceBefore + bundles.size,
  );
});

test("executor alone a bundle that another instance stored and did not send is sent by the one that is given its operation", async () => {
  const wallet = await newWallet();
  const to = newRecipient();
  const { operation, userOpHash } = await signed(wallet, [transfer(to, 4n)], 1n);
  let sends = 0;
  // The instance that ends between storing a bundle and sending it: none of its transactions
  // reaches the chain.
  const ended = createExecutorBundler({
    registry: chain.registry,
    executorAddress: chain.executor,
    transactions: createChainTransactionsService({
      database,
      registry: createChainRegistry([chain.anvil.config], {
        fetchFn: (url, init) => {
          const isSend =
            typeof init?.body === "string" && init.body.includes("eth_sendRawTransaction");
          if (!isSend) return rpcFetch(url, init);
          sends += 1;
          return Promise.reject(new Error("The instance has ended."));
        },
      }),
      signer: chain.signer,
      clock: systemClock,
      log: pino({ level: "silent" }),
    }),
  });
  await ended.submit(harness.chainId, operation).catch(() => null);
  expect(sends).toBeGreaterThan(0);
  expect(await bundler.receipt(harness.chainId, userOpHash, 0n)).toBeNull();
  const nonceBefore = await client.getTransactionCount({ address: chain.executor });
  await bundler.submit(harness.chainId, operation);
  expect((await received(userOpHash)).success).toBe(true);
  expect(await harness.tokenBalance(to)).toBe(4n);
  // The stored bundle was sent, and no second one.
  expect(await client.getTransactionCount({ address: chain.executor })).toBe(nonceBefore + 1);
});

test("executor alone an account whose deposit suffices for one at a time has them all executed, one after another", async () => {
  const wallet = await newWallet();
  await execute(wallet, [transfer(newRecipient(), 1n)], 1n);
  const to = Array.from({ length: 3 }, newRecipient);
  const all = await Promise.all(
    to.map((one, index) => signed(wallet, [transfer(one, 2n)], BigInt(60 + index))),
  );
  const dearest = all.reduce((most, { operation }) => {
    const cost = gasTotalOf(operation) * operation.maxFeePerGas;
    return cost > most ? cost : most;
  }, 0n);
  await client.setBalance({ address: wallet.account, value: dearest * 2n - 1n });
  await vi.waitFor(
    async () => {
      await transactions.reconcile(harness.chainId);
      await Promise.allSettled(
        all.map(({ operation }) => bundler.submit(harness.chainId, operation)),
      );
      expect(await Promise.all(to.map((one) => harness.tokenBalance(one)))).toEqual([
        2n,
        2n,
        2n,
      ]);
    },
    { timeout: 20_000, interval: 100 },
  );
});

test("executor alone the executor gets back what it spends", async () => {
  const wallet = await newWallet();
  const before = await client.getBalance({ address: chain.executor });
  await execute(wallet, [transfer(newRecipient(), 1n)], 1n);
  await execute(wallet, [transfer(newRecipient(), 1n), transfer(newRecipient(), 1n)], 2n);
  expect(await client.getBalance({ address: chain.executor })).toBeGreaterThanOrEqual(before);
});

test("executor alone the call of a batch that fails is named with its reason", async () => {
  const wallet = await newWallet();
  const factory = "0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67";
  const create: Call = {
    to: factory,
    data: encodeFunctionData({
      abi: parseAbi([
        "function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce)",
      ]),
      args: [newRecipient(), "0x", 0n],
    }),
    value: 0n,
  };
  const failing = draft(wallet, [transfer(newRecipient(), 1n), create], 1n);
  await expect(
    failing.then((operation) => bundler.estimateGas(harness.chainId, operation)),
  ).rejects.toThrow(`call 2 of 2 (to ${factory}): Singleton contract not deployed`);
});

test("executor alone a contract that wants gas to be left over is given it", async () => {
  const wallet = await newWallet();
  // Each nested call gets 63/64 of the remaining gas, so a limit measured without nesting would be
  // too low.
  const greedy = "0x00000000000000000000000000000000000a11ce";
  // PUSH3 200000 GAS GT PUSH1 10 JUMPI INVALID JUMPDEST STOP: fails below 200,000 gas and uses none
  // of it.
  await client.setCode({ address: greedy, bytecode: "0x62030d405a11600a57fe5b00" });
  const receipt = await execute(
    wallet,
    [{ to: greedy, data: "0x", value: 0n }, transfer(newRecipient(), 1n)],
    1n,
  );
  expect(receipt.success).toBe(true);
});

test("executor alone a batch of 300 payments to new recipients is estimated and executed", async () => {
  const wallet = await newWallet();
  const calls = Array.from({ length: 300 }, () => transfer(newRecipient(), 1n));
  expect((await execute(wallet, calls, 1n)).success).toBe(true);
  expect(await harness.tokenBalance(wallet.account)).toBe(700n);
});

import { pino } from "pino";
import { encodeFunctionData, erc20Abi, parseEther, type Hex } from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { afterAll, describe, expect, test, vi } from "vitest";
import { bundleCallOf } from "@/lib/chain/erc4337/bundle-call";
import { revertDataOf, revertReasonOf } from "@/lib/chain/erc4337/marked-paymaster";
import { packUserOperation } from "@/lib/chain/erc4337/user-operation";
import { systemClock } from "@/lib/core/clock";
import { createChainTransactionsService } from "@/lib/chain/transactions/service";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import type { Call, EvmAddress } from "@/lib/core/evm";
import { startOperationChain } from "@/lib/dev/testing/bundler-harness";
import { testDatabase } from "@/lib/dev/testing/database";
import { deployVerifyingPaymaster } from "@/lib/dev/testing/verifying-paymaster";
import { createExecutorBundler } from "./executor-bundler";

const CHAIN_ID = 41_347;
const { database } = await testDatabase();
const chain = await startOperationChain(CHAIN_ID);
afterAll(() => chain.anvil.stop());
const { client } = chain.anvil;
const { registry, signer, entryPoint, paymaster, executor } = chain;
const old = await deployVerifyingPaymaster(chain.anvil, entryPoint);

const transactions = createChainTransactionsService({
  database,
  registry,
  signer,
  clock: systemClock,
  log: pino({ level: "silent" }),
});
const bundler = createExecutorBundler({ registry, transactions, executorAddress: executor });
const harness = chain.harness(bundler);

const HOUR_MS = 3_600_000;
const GWEI = 10n ** 9n;
const SIGNATURE_CHECK_GAS = 100_000n;
let recipients = 1n << 120n;
const newRecipient = (): EvmAddress => `0x${(recipients += 1n).toString(16).padStart(40, "0")}`;
const transfer = (to = newRecipient()): Call => ({
  to: chain.token,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, 1n] }),
  value: 0n,
});

/** An account with tokens but no coin, so that it cannot pay for anything itself. */
const newWallet = async () => {
  const owner = await harness.newOwner();
  const account = await harness.accounts.addressOf(owner.address);
  await harness.giveToken(account, 1_000n);
  return { ...owner, account };
};
type Wallet = Awaited<ReturnType<typeof newWallet>>;
type Payer = "paymaster" | "account" | "old paymaster";

let keys = 0n;
/** Prepared and signed by the account's owner, but not executed yet. */
const signed = async (wallet: Wallet, calls: readonly Call[], payer: Payer = "paymaster") => {
  const draft = await harness.accounts.draft({
    chainId: CHAIN_ID,
    ownerAddress: wallet.address,
    calls,
    nonceKey: (keys += 1n),
    fees: await bundler.fees(CHAIN_ID),
    sponsored: payer === "paymaster",
  });
  const estimated = await bundler.estimateGas(CHAIN_ID, draft);
  const isOld = payer === "old paymaster";
  const gas = isOld
    ? { ...estimated, paymasterVerificationGasLimit: SIGNATURE_CHECK_GAS }
    : estimated;
  const validUntil = new Date((await harness.chainTime()).getTime() + HOUR_MS);
  const sponsored = isOld ? await old.sponsor({ ...draft, ...gas }) : draft;
  const prepared = harness.accounts.prepare({
    chainId: CHAIN_ID,
    draft: sponsored,
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
      const receipt = await bundler.receipt(CHAIN_ID, userOpHash, 0n);
      if (receipt === null) throw new Error("not mined yet");
      return receipt;
    },
    { timeout: 20_000, interval: 20 },
  );

/** A deployed account with coin, which can also pay for its own gas. */
const deployedWallet = async (): Promise<Wallet> => {
  const wallet = await newWallet();
  const { operation, userOpHash } = await signed(wallet, [transfer()]);
  await bundler.submit(CHAIN_ID, operation);
  await received(userOpHash);
  await client.setBalance({ address: wallet.account, value: parseEther("1") });
  return wallet;
};

const depositOf = (account: EvmAddress): Promise<bigint> =>
  client.readContract({
    address: entryPoint,
    abi: entryPoint07Abi,
    functionName: "balanceOf",
    args: [account],
  });

const newStranger = async (): Promise<PrivateKeyAccount> => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  await client.setBalance({ address: stranger.address, value: parseEther("10") });
  return stranger;
};

const handleOps = (operations: readonly UserOperation[], beneficiary: EvmAddress): Hex =>
  encodeFunctionData({
    abi: entryPoint07Abi,
    functionName: "handleOps",
    args: [operations.map(packUserOperation), beneficiary],
  });

/** Sends any call at a price far above all others, without simulating it first. */
const sendAs = async (
  stranger: PrivateKeyAccount,
  nonce: number,
  to: EvmAddress,
  data: Hex,
): Promise<Hex> =>
  client.sendRawTransaction({
    serializedTransaction: await stranger.signTransaction({
      type: "eip1559",
      chainId: CHAIN_ID,
      nonce,
      gas: 15_000_000n,
      maxFeePerGas: 500n * GWEI,
      maxPriorityFeePerGas: 400n * GWEI,
      to,
      data,
    }),
  });

const refusalOf = async (
  from: EvmAddress,
  to: EvmAddress,
  data: Hex,
): Promise<string | null> => {
  try {
    await client.call({ account: from, to, data });
    return null;
  } catch (error) {
    const revert = revertDataOf(error);
    if (revert === null) throw error;
    return revertReasonOf(revert).text;
  }
};

const NOT_CONSENTED = "AA34 signature error";

describe("what prepare hands out", () => {
  test("makes the paymaster pay nothing in the hands of others, before execute", async () => {
    const [wallet, stranger] = await Promise.all([newWallet(), newStranger()]);
    // Code that uses all gas it is given, for which a bundler would be reimbursed: PUSH1 0 JUMPDEST
    // … GAS PUSH2 50000 LT JUMPI.
    const burner = "0x0000000000000000000000000000000000b42e12";
    await client.setCode({ address: burner, bytecode: "0x5b61c3505a11600057" });
    const { operation, userOpHash } = await signed(wallet, [
      { to: burner, data: "0x", value: 0n },
    ]);
    const deposit = await depositOf(paymaster);
    const bundle = handleOps([operation], stranger.address);
    expect(await refusalOf(stranger.address, entryPoint, bundle)).toBe(NOT_CONSENTED);
    const hash = await sendAs(stranger, 0, entryPoint, bundle);
    expect((await client.waitForTransactionReceipt({ hash, pollingInterval: 20 })).status).toBe(
      "reverted",
    );
    expect(await depositOf(paymaster)).toBe(deposit);
    expect(await bundler.receipt(CHAIN_ID, userOpHash, 0n)).toBeNull();
    expect(await client.getBalance({ address: stranger.address })).toBeLessThan(
      parseEther("10"),
    );
  });

  test("and while the executor's bundle is in flight, in front of it in the same block", async () => {
    const [wallet, stranger] = await Promise.all([newWallet(), newStranger()]);
    const to = newRecipient();
    const { operation, userOpHash } = await signed(wallet, [transfer(to)]);
    const deposit = await depositOf(paymaster);
    await client.setAutomine(false);
    await client.setIntervalMining({ interval: 0 });
    try {
      await bundler.submit(CHAIN_ID, operation, { isHeldElsewhere: true });
      // The executor's call is visible in the mempool, so anybody can copy it.
      const copied = bundleCallOf(
        { chainId: CHAIN_ID, entryPoint, paymaster, executor: stranger.address },
        [operation],
      );
      const attempts = [
        await sendAs(stranger, 0, entryPoint, handleOps([operation], stranger.address)),
        await sendAs(stranger, 1, copied.to, copied.data),
      ];
      await client.mine({ blocks: 1 });
      const ours = await received(userOpHash);
      const theirs = await Promise.all(
        attempts.map((hash) => client.getTransactionReceipt({ hash })),
      );
      expect(theirs.map(({ status }) => status)).toEqual(["reverted", "reverted"]);
      // The copied transaction was mined first.
      const { transactionIndex, from } = await client.getTransactionReceipt({
        hash: ours.txHash,
      });
      expect(from).toBe(executor.toLowerCase());
      expect(theirs.every((one) => one.blockNumber === ours.blockNumber)).toBe(true);
      expect(theirs.every((one) => one.transactionIndex < transactionIndex)).toBe(true);
      expect(ours).toMatchObject({ success: true, paymaster });
      expect(await depositOf(paymaster)).toBe(deposit - ours.actualGasCost);
      expect(await harness.tokenBalance(to)).toBe(1n);
    } finally {
      await client.setAutomine(true);
    }
  });

  test("and after it was executed", async () => {
    const [wallet, stranger] = await Promise.all([deployedWallet(), newStranger()]);
    const { operation, userOpHash } = await signed(wallet, [transfer()]);
    await bundler.submit(CHAIN_ID, operation);
    await received(userOpHash);
    const deposit = await depositOf(paymaster);
    const bundle = handleOps([operation], stranger.address);
    expect(await refusalOf(stranger.address, entryPoint, bundle)).toMatch(/^AA25/);
    expect(await depositOf(paymaster)).toBe(deposit);
  });
});

describe("the executor", () => {
  test("bundles what the paymaster, the account and a paymaster of before pay for, in one transaction", async () => {
    const wallet = await deployedWallet();
    const payers: readonly Payer[] = ["paymaster", "account", "old paymaster", "paymaster"];
    const all = await Promise.all(payers.map((payer) => signed(wallet, [transfer()], payer)));
    await Promise.all(all.map(({ operation }) => bundler.submit(CHAIN_ID, operation)));
    const receipts = await Promise.all(all.map(({ userOpHash }) => received(userOpHash)));
    expect(receipts.map(({ success }) => success)).toEqual([true, true, true, true]);
    expect(receipts.map((receipt) => receipt.paymaster)).toEqual([
      paymaster,
      null,
      old.address,
      paymaster,
    ]);
    expect(new Set(receipts.map(({ txHash }) => txHash)).size).toBe(1);
  });

  test("gets back what it spends for the paymaster", async () => {
    const wallet = await newWallet();
    const before = await client.getBalance({ address: executor });
    for (const calls of [[transfer()], [transfer()], [transfer(), transfer()]]) {
      const { operation, userOpHash } = await signed(wallet, calls);
      await bundler.submit(CHAIN_ID, operation);
      await received(userOpHash);
    }
    expect(await client.getBalance({ address: executor })).toBeGreaterThanOrEqual(before);
  });

  test("that the paymaster does not know is told at once, and what its owner has to do", async () => {
    const stranger = privateKeyToAccount(generatePrivateKey()).address;
    const unknown = createExecutorBundler({
      registry,
      transactions,
      executorAddress: stranger,
    });
    const wallet = await newWallet();
    const draft = await harness.accounts.draft({
      chainId: CHAIN_ID,
      ownerAddress: wallet.address,
      calls: [transfer()],
      nonceKey: (keys += 1n),
      fees: await bundler.fees(CHAIN_ID),
    });
    await expect(unknown.estimateGas(CHAIN_ID, draft)).rejects.toMatchObject({
      code: "provider_error",
      message: expect.stringContaining(`setMarker(${stranger}, true)`) as string,
    });
  });
});

describe("gas", () => {
  /** The gas of the whole transaction divided by its number of operations. */
  const gasPerOperation = async (payer: Payer, count: number): Promise<number> => {
    const wallet = await deployedWallet();
    const all = await Promise.all(
      Array.from({ length: count }, () => signed(wallet, [transfer()], payer)),
    );
    await Promise.all(all.map(({ operation }) => bundler.submit(CHAIN_ID, operation)));
    const receipts = await Promise.all(all.map(({ userOpHash }) => received(userOpHash)));
    const hashes = [...new Set(receipts.map(({ txHash }) => txHash))];
    expect(hashes).toHaveLength(1);
    const used = await Promise.all(
      hashes.map((hash) => client.getTransactionReceipt({ hash })),
    );
    return Math.round(Number(used.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)) / count);
  };

  test.each([1, 10])(
    "of %i operations in a bundle is not above the signing paymaster's by 5,000 each",
    async (count) => {
      const ours = await gasPerOperation("paymaster", count);
      const theirs = await gasPerOperation("old paymaster", count);
      console.info(
        `gas per operation, ${String(count)} in a bundle: ${String(ours)}, by signature ${String(theirs)}`,
      );
      expect(ours).toBeLessThanOrEqual(theirs + 5_000);
    },
  );
});

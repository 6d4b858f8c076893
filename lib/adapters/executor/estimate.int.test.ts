import { pino } from "pino";
import { encodeFunctionData, erc20Abi, parseEther } from "viem";
import { expect, test, vi } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { createChainTransactionsService } from "@/lib/chain/transactions/service";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import type { EvmAddress } from "@/lib/core/evm";
import { afterFile } from "@/lib/dev/testing/after-file";
import { startOperationChain } from "@/lib/dev/testing/bundler-harness";
import { testDatabase } from "@/lib/dev/testing/database";
import { createExecutorBundler } from "./executor-bundler";

const { database } = await testDatabase();
const chain = await startOperationChain(41_352);
afterFile(() => chain.anvil.stop());
const { registry, executor: executorAddress } = chain;
const log = pino({ level: "silent" });
const transactions = createChainTransactionsService({
  ...{ database, registry, signer: chain.signer, clock: systemClock, log },
});
/** A bundler whose estimator has no cached limits. */
const newBundler = () => createExecutorBundler({ registry, transactions, executorAddress });
const harness = chain.harness(newBundler());
const { chainId } = harness;
const calls = vi.spyOn(registry.client(chainId), "call");

const owner = await harness.newOwner();
const account = await harness.accounts.addressOf(owner.address);
await harness.giveToken(account, 1_000n);
await harness.giveNative(account, parseEther("1"));

let recipients = 1n << 101n;
const newRecipient = (): EvmAddress => `0x${(recipients += 1n).toString(16).padStart(40, "0")}`;

const transferTo = async (recipient: EvmAddress, key: bigint): Promise<UserOperation> => {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [recipient, 1n],
  });
  const fees = await newBundler().fees(chainId);
  const what = {
    calls: [{ to: chain.token, data, value: 0n }],
    nonceKey: key,
    fees,
    sponsored: false,
  };
  return harness.accounts.draft({ chainId, ownerAddress: owner.address, ...what });
};

/** The limits, and the number of requests to the chain. */
const estimated = async (bundler: ReturnType<typeof newBundler>, operation: UserOperation) => {
  calls.mockClear();
  const gas = await bundler.estimateGas(chainId, operation);
  return { gas, asked: calls.mock.calls.length };
};

test("a second transfer of an account takes fewer questions, and gets the limits that it would get by itself", async () => {
  const bundler = newBundler();
  const first = await estimated(bundler, await transferTo(newRecipient(), 1n));
  const operation = await transferTo(newRecipient(), 2n);
  const second = await estimated(bundler, operation);
  const alone = await estimated(newBundler(), operation);
  expect(second.gas).toEqual(alone.gas);
  expect([first.asked, second.asked]).toEqual([alone.asked, alone.asked - 1]);
});

test("a transfer that needs more than the one before gets limits of its own", async () => {
  const bundler = newBundler();
  const known = newRecipient();
  await harness.giveToken(known, 1n);
  const cheap = await estimated(bundler, await transferTo(known, 3n));
  const operation = await transferTo(newRecipient(), 4n);
  const dear = await estimated(bundler, operation);
  expect(dear.gas.callGasLimit).toBeGreaterThan(cheap.gas.callGasLimit);
  expect(dear.gas).toEqual((await estimated(newBundler(), operation)).gas);
});

test("a transfer that fails is refused although one before it succeeded", async () => {
  const bundler = newBundler();
  await bundler.estimateGas(chainId, await transferTo(newRecipient(), 5n));
  const tooMuch = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [newRecipient(), 9_999n],
  });
  const operation = await harness.accounts.draft({
    ...{ chainId, ownerAddress: owner.address, nonceKey: 6n, sponsored: false },
    calls: [{ to: chain.token, data: tooMuch, value: 0n }],
    fees: await bundler.fees(chainId),
  });
  await expect(bundler.estimateGas(chainId, operation)).rejects.toMatchObject({
    code: "simulation_failed",
  });
});

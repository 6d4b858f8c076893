import { pino } from "pino";
import { encodeFunctionData, erc20Abi, parseEther, type Hex } from "viem";
import { afterAll, expect, test, vi } from "vitest";
import { TRANSACTION_GAS_MAX, transactionGasAlone } from "@/lib/chain/erc4337/user-operation";
import type { RollupKind } from "@/lib/chain/fees";
import { createChainRegistry } from "@/lib/chain/registry";
import { systemClock } from "@/lib/core/clock";
import { createChainTransactionsService } from "@/lib/chain/transactions/service";
import type { EvmAddress } from "@/lib/core/evm";
import { startOperationChain } from "@/lib/dev/testing/bundler-harness";
import { testDatabase } from "@/lib/dev/testing/database";
import { standInRollup } from "@/lib/dev/testing/rollup";
import { createExecutorBundler } from "./executor-bundler";

const { database } = await testDatabase();
const chain = await startOperationChain(41_361);
afterAll(() => chain.anvil.stop());
const GWEI = 10n ** 9n;
const HOUR_MS = 3_600_000;
const RECIPIENT: EvmAddress = "0x00000000000000000000000000000000000f00d1";
const [config] = chain.registry.list();
if (config === undefined) throw new Error("There is one chain.");

/** The executor's view of the chain when its kind is configured. */
const rollupOf = async (rollup: RollupKind) => {
  const registry = createChainRegistry([{ ...config, rollup }]);
  const transactions = createChainTransactionsService({
    database,
    registry,
    signer: chain.signer,
    clock: systemClock,
    log: pino({ level: "silent" }),
  });
  const bundler = createExecutorBundler({
    registry,
    transactions,
    executorAddress: chain.executor,
  });
  return {
    bundler,
    harness: chain.harness(bundler),
    fees: await standInRollup(chain.anvil.url, rollup),
  };
};
type Rollup = Awaited<ReturnType<typeof rollupOf>>;
let keys = 0n;

const newDraft = async ({ bundler, harness }: Rollup) => {
  const owner = await harness.newOwner();
  const account = await harness.accounts.addressOf(owner.address);
  await harness.giveToken(account, 1_000n);
  await harness.giveNative(account, parseEther("10"));
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [RECIPIENT, 1n],
  });
  const draft = await harness.accounts.draft({
    chainId: harness.chainId,
    ownerAddress: owner.address,
    calls: [{ to: chain.token, data, value: 0n }],
    nonceKey: (keys += 1n),
    fees: await bundler.fees(harness.chainId),
    sponsored: false,
  });
  return { owner, draft };
};

test("on the OP stack an estimate rises with the parent's fee, and the executor gets that fee back", async () => {
  const rollup = await rollupOf("op-stack");
  const { bundler, harness, fees } = rollup;
  const { owner, draft } = await newDraft(rollup);
  await fees.setPerByte(0n);
  const free = await bundler.estimateGas(harness.chainId, draft);
  await fees.setPerByte(1_000n * GWEI);
  const cheap = await bundler.estimateGas(harness.chainId, draft);
  // More gas than any transaction may use: it is charged but not executed.
  await fees.setPerByte(60_000n * GWEI);
  const dear = await bundler.estimateGas(harness.chainId, draft);
  expect(free.unusedGas).toBe(0n);
  expect(cheap.preVerificationGas).toBeGreaterThan(free.preVerificationGas);
  expect(dear.preVerificationGas).toBeGreaterThan(TRANSACTION_GAS_MAX);
  expect(dear.preVerificationGas - (dear.unusedGas ?? 0n)).toBe(free.preVerificationGas);
  const alone = (gas: typeof dear) =>
    transactionGasAlone({ ...gas, callGasLimit: 0n }, { isSponsored: false });
  expect(alone(dear)).toBeLessThan(alone(free) + 100_000n);

  const validUntil = new Date((await harness.chainTime()).getTime() + HOUR_MS);
  const prepared = harness.accounts.prepare({
    chainId: harness.chainId,
    draft,
    gas: dear,
    validUntil,
  });
  await bundler.submit(harness.chainId, await harness.accounts.sign(owner.scope, prepared));
  const receipt = await minedBy(rollup, prepared.userOpHash);
  expect(receipt.success).toBe(true);
  const { gas, input } = await chain.anvil.client.getTransaction({ hash: receipt.txHash });
  expect(gas).toBeLessThan(TRANSACTION_GAS_MAX);
  // The fee for the bytes that were really sent, at the price of the mock.
  expect(receipt.actualGasCost).toBeGreaterThan(BigInt(input.length / 2) * 60_000n * GWEI);
});

const minedBy = ({ bundler, harness }: Rollup, userOpHash: Hex) =>
  vi.waitFor(
    async () => {
      const receipt = await bundler.receipt(harness.chainId, userOpHash, 0n);
      if (receipt === null) throw new Error("not mined yet");
      return receipt;
    },
    { timeout: 20_000, interval: 20 },
  );

test("on Arbitrum an estimate rises with the gas for the parent, which the transaction may use", async () => {
  const rollup = await rollupOf("arbitrum");
  const { bundler, harness, fees } = rollup;
  const { draft } = await newDraft(rollup);
  await fees.setPerByte(0n);
  const free = await bundler.estimateGas(harness.chainId, draft);
  await fees.setPerByte(200n);
  const dear = await bundler.estimateGas(harness.chainId, draft);
  // More than 1,000 bytes, with a margin of a quarter.
  expect(dear.preVerificationGas).toBeGreaterThan(free.preVerificationGas + 250_000n);
  expect(dear.unusedGas).toBeUndefined();
});

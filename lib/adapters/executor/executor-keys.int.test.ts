import { pino } from "pino";
import { encodeFunctionData, erc20Abi, parseEther, type Hex } from "viem";
import { afterAll, expect, test, vi } from "vitest";
import { createMarkerCheck } from "@/lib/chain/erc4337/marked-paymaster";
import { systemClock } from "@/lib/core/clock";
import { allowMarker } from "@/lib/dev/devnet/marker";
import { createChainTransactionsService } from "@/lib/chain/transactions/service";
import type { EvmAddress } from "@/lib/core/evm";
import { startOperationChain } from "@/lib/dev/testing/bundler-harness";
import { testDatabase } from "@/lib/dev/testing/database";
import { createExecutorBundler } from "./executor-bundler";

const CHAIN_ID = 41_362;
const HOUR_MS = 3_600_000;
const WEI = parseEther("100");
const RECIPIENT = "0x00000000000000000000000000000000000a11ce";
const { database } = await testDatabase();
const chain = await startOperationChain(CHAIN_ID);
const { client, url } = chain.anvil;
afterAll(() => chain.anvil.stop());

const newKey = async (keyId: string): Promise<EvmAddress> =>
  (await chain.signer.create({ keyId, projectId: null })).address;
// The memory signer creates a key when a name is used for the first time.
const [unfunded, stranger, second] = [
  await newKey("executor-2"),
  await newKey("executor-3"),
  await newKey("executor-4"),
];
await client.setBalance({ address: stranger, value: WEI });
await client.setBalance({ address: second, value: WEI });
await allowMarker(url, unfunded);
await allowMarker(url, second);

const transactions = createChainTransactionsService({
  database,
  registry: chain.registry,
  signer: chain.signer,
  clock: systemClock,
  log: pino({ level: "silent" }),
  executorKeyIds: ["executor", "executor-2", "executor-3", "executor-4"],
  mayCall: createMarkerCheck(chain.registry),
});
const bundler = createExecutorBundler({
  registry: chain.registry,
  transactions,
  executorAddress: chain.executor,
});
const harness = chain.harness(bundler);

const owner = await harness.newOwner();
const account = await harness.accounts.addressOf(owner.address);
await harness.giveToken(account, 1_000n);
await harness.giveNative(account, parseEther("1"));

const execute = async (key: bigint, sponsored: boolean): Promise<void> => {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [RECIPIENT, 1n],
  });
  const draft = await harness.accounts.draft({
    chainId: CHAIN_ID,
    ownerAddress: owner.address,
    calls: [{ to: chain.token, data, value: 0n }],
    nonceKey: key,
    fees: await bundler.fees(CHAIN_ID),
    sponsored,
  });
  const gas = await bundler.estimateGas(CHAIN_ID, draft);
  const validUntil = new Date((await harness.chainTime()).getTime() + HOUR_MS);
  const prepared = harness.accounts.prepare({ chainId: CHAIN_ID, draft, gas, validUntil });
  await bundler.submit(CHAIN_ID, await harness.accounts.sign(owner.scope, prepared));
  await vi.waitFor(
    async () =>
      expect((await bundler.receipt(CHAIN_ID, prepared.userOpHash, 0n))?.success).toBe(true),
    {
      timeout: 20_000,
      interval: 20,
    },
  );
  await transactions.reconcile(CHAIN_ID);
};

const sent = (address: Hex): Promise<number> => client.getTransactionCount({ address });

test("executor keys take turns, and one that cannot pay or that the paymaster does not know sends nothing for it", async () => {
  for (let key = 1n; key <= 6n; key += 1n) await execute(key, true);
  const counts = [await sent(chain.executor), await sent(second)];
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts[1]).toBeGreaterThan(0);
  expect(counts.reduce((sum, each) => sum + each, 0)).toBe(6);
  expect([await sent(unfunded), await sent(stranger)]).toEqual([0, 0]);
  expect(await harness.tokenBalance(RECIPIENT)).toBe(6n);
});

test("an account that sends a bundle is paid back by EntryPoint, and one with transactions under way comes last", async () => {
  const before = await client.getBalance({ address: stranger });
  const chosen = await transactions.chooseKey({
    chainId: CHAIN_ID,
    to: chain.entryPoint,
    costWei: WEI * 100n,
  });
  // No key can pay this cost, so the first key is chosen, whose account the error then names.
  expect(chosen.keyId).toBe("executor");
  // EntryPoint accepts bundles from everybody, so the stranger's key is used within four bundles.
  for (let key = 11n; key <= 16n; key += 1n) await execute(key, false);
  expect(await sent(stranger)).toBeGreaterThan(0);
  const cost = before - (await client.getBalance({ address: stranger }));
  const receipts = await database.prisma.chainTransaction.findMany({
    where: { fromAddress: stranger },
  });
  const mined = await client.getTransactionReceipt({
    hash: (receipts[0]?.minedHash ?? "0x") as Hex,
  });
  // Without EntryPoint's reimbursement, the stranger's key would have paid for all of the gas.
  expect(cost).toBeLessThan(mined.gasUsed * mined.effectiveGasPrice);

  await database.prisma.chainTransaction.updateMany({
    where: { fromAddress: second },
    data: { status: "broadcast" },
  });
  for (let turns = 0; turns < 8; turns += 1) {
    const key = await transactions.chooseKey({
      chainId: CHAIN_ID,
      to: chain.entryPoint,
      costWei: 1n,
    });
    expect(key.address).not.toBe(second);
  }
});

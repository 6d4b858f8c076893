import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { createChainRegistry } from "@/lib/chains/registry";
import { chainsFile } from "@/lib/config/chains";
import { getOperation } from "@/lib/contracts/operations";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { restoreBackup } from "@/lib/stack/postgres/restore";
import { startEmbeddedPostgres } from "@/lib/stack/postgres/embedded-postgres";
import { testApi } from "@/lib/testing/api";
import { changedChainsFile } from "@/lib/testing/chains-file";
import { testAccount } from "@/lib/testing/factories";
import { fundedCustomer, sendUsdc } from "@/lib/testing/funded-customer";
import { balanceOnChain, waitUntilFinal } from "@/lib/testing/journey";
import { otherServices } from "@/lib/testing/other-services";
import { ownDevnet } from "@/lib/testing/own-devnet";
import { ownPostgres } from "@/lib/testing/own-postgres";
import { rowsOf, seedPayout } from "@/lib/testing/wallet-payouts";
import { startWorker } from "@/lib/workers/runner";

const CONFIRMATIONS = 2;
const WAIT = { timeout: 60_000, interval: 50 };
/** More than an operation is valid. */
const LATER_SECONDS = 1_000;
const DECIMALS = 1_000_000n;
const REQUEST = { by: "operator:test", reason: "restore drill", accept: [] };

const [devnet, postgres] = await Promise.all([ownDevnet(), ownPostgres()]);
const [one] = devnet.chains;
if (one === undefined) throw new Error("There is no chain.");
const CHAINS_FILE = changedChainsFile((chain) => {
  chain.confirmations = CONFIRMATIONS;
  chain.rpcUrls = devnet.chains.filter(({ chainId }) => chainId === chain.id).map(({ rpcUrl }) => rpcUrl);
});
const { chains } = chainsFile.parse(JSON.parse(readFileSync(CHAINS_FILE, "utf8")));
const rpcVariables = Object.fromEntries(
  devnet.chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${String(chainId)}`, rpcUrl]),
);
const registry = createChainRegistry(chains);
const api = await testApi({
  devnet: false,
  variables: { DATABASE_URL: postgres.url, CHAINS_FILE, DEVNET: "1", ...rpcVariables },
  overrides: { registry },
});
const executor = await devnet.serve(api.services.config);
const usdc = registry.resolveToken(one.chainId, "USDC").address;

const usdcOf = (owner: `0x${string}`): Promise<bigint> => balanceOnChain(one.rpcUrl, usdc, owner);
const sentByExecutor = (): Promise<number> => one.client.getTransactionCount({ address: executor });

/** Until the end of what was signed before is final. */
const letTimePass = async (): Promise<void> => {
  await Promise.all(
    devnet.chains.map(async ({ client }) => {
      await client.increaseTime({ seconds: LATER_SECONDS });
      await client.mine({ blocks: CONFIRMATIONS + 1 });
    }),
  );
};

test("after a restore nothing is signed before the chains were compared, and nobody is paid twice", async () => {
  const customer = await fundedCustomer(api);
  const [queued, lost, later] = [testAccount().address, testAccount().address, testAccount().address];
  const rows = rowsOf("drill", 4);

  // Money in flight at the time of the backup: accepted, and not signed.
  const { operationId } = await sendUsdc(customer, "10", queued);
  const payout = await seedPayout(api.services, customer, {
    chainId: one.chainId,
    batches: [{ token: "USDC", rows }],
    withJob: true,
  });
  const backup = await postgres.backUp();

  // It is paid after the backup, and so is a request that the backup does not know.
  const worker = startWorker(api.services, { searchesDeposits: false });
  const body = {
    ...{ fromWalletId: customer.treasuryId, fromChainId: one.chainId, toChainId: one.chainId },
    ...{ fromToken: "USDC", toToken: "USDC", amount: "25", recipient: lost },
  };
  const idempotencyKey = crypto.randomUUID();
  const answered = await customer.client.call(swapAndTransfer, { body, idempotencyKey });
  await Promise.all([operationId, answered.operationId].map((id) => waitUntilFinal(customer.client, id)));
  const { prisma } = api.services.database;
  await vi.waitFor(async () => {
    expect((await prisma.payout.findUniqueOrThrow({ where: { id: payout.id } })).status).toBe("completed");
  }, WAIT);
  await worker.stop();
  expect(await usdcOf(lost)).toBe(25n * DECIMALS);
  const sentBefore = await sentByExecutor();

  // Restored to another place, where an instance with the same keys begins.
  const dataDir = postgres.elsewhere("restored");
  await restoreBackup({ from: backup, dataDir, database: "causeway" });
  const restored = await startEmbeddedPostgres({ dataDir });
  onTestFinished(async () => {
    await restored.stop();
  });
  const services = otherServices(api.services, restored.url("causeway"), registry);
  const { database, reconciliation, signing } = services;
  const second = startWorker(services, { searchesDeposits: false });
  onTestFinished(() => second.stop());

  // Every open job has had its turn, and nothing was signed or failed.
  await vi.waitFor(async () => {
    const jobs = await database.prisma.job.findMany({ where: { id: { in: [operationId, payout.id] } } });
    expect(jobs.map(({ attempts, lockedBy }) => attempts > 0 && lockedBy === null)).toEqual([true, true]);
  }, WAIT);
  expect(await signing.state()).toMatchObject({ isAllowed: false });
  expect((await customer.client.call(getOperation, { params: { id: operationId } })).status).toBe("pending");
  await expect(customer.client.call(swapAndTransfer, { body, idempotencyKey })).rejects.toMatchObject({
    status: 503,
    code: "signing_off",
  });
  const own = { chainId: one.chainId, keyId: "executor", purpose: "drill", to: lost, data: "0x", value: 1n } as const;
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
  await expect(services.transactions.send({ ...own, gas: 21_000n, fees })).rejects.toMatchObject({
    code: "signing_off",
  });
  expect(await sentByExecutor()).toBe(sentBefore);

  // What was signed before may still be executed, so the first comparison does not allow signing.
  expect(await reconciliation.reconcile(REQUEST)).toMatchObject({ wasOff: true, isAllowed: false });
  await letTimePass();
  const report = await reconciliation.reconcile(REQUEST);
  expect(report).toMatchObject({ isAllowed: false, faults: [] });
  expect(report.unknown.map(({ projectId, payments }) => ({ projectId, payments }))).toEqual([
    { projectId: customer.projectId, payments: [{ to: lost, token: usdc, symbol: "USDC", amount: "25" }] },
  ]);
  expect((await signing.state()).isAllowed).toBe(false);

  const hash = report.unknown[0]?.hash ?? "";
  expect(await reconciliation.reconcile({ ...REQUEST, accept: [hash] })).toMatchObject({
    isAllowed: true,
    unknown: [],
  });
  await vi.waitFor(async () => expect((await signing.state()).isAllowed).toBe(true), WAIT);

  // The work in flight ends as it was paid.
  expect((await waitUntilFinal(customer.client, operationId)).status).toBe("completed");
  await vi.waitFor(async () => {
    expect((await database.prisma.payout.findUniqueOrThrow({ where: { id: payout.id } })).status).toBe("completed");
  }, WAIT);

  // The same request again names a recipient that was paid.
  await expect(customer.client.call(swapAndTransfer, { body, idempotencyKey })).rejects.toMatchObject({
    status: 409,
    code: "paid_already",
  });
  // Another one is paid with the executor's next nonce.
  const { operationId: next } = await sendUsdc(customer, "5", later);
  expect((await waitUntilFinal(customer.client, next)).status).toBe("completed");
  expect(await sentByExecutor()).toBe(sentBefore + 1);
  expect([await usdcOf(queued), await usdcOf(lost), await usdcOf(later)]).toEqual([
    10n * DECIMALS,
    25n * DECIMALS,
    5n * DECIMALS,
  ]);
  for (const { recipient, amountBase } of rows) expect(await usdcOf(recipient)).toBe(amountBase);

  // A release by the operator lets the recipient be paid again.
  expect(await reconciliation.releaseMoves([hash], REQUEST.by, "another invoice")).toEqual([hash]);
  await vi.waitFor(async () => {
    const again = await customer.client.call(swapAndTransfer, { body, idempotencyKey });
    expect((await waitUntilFinal(customer.client, again.operationId)).status).toBe("completed");
  }, WAIT);
  expect(await usdcOf(lost)).toBe(50n * DECIMALS);
}, 180_000);

/**
 * A private transfer that was accepted before the backup, with or without a proof, and whose
 * transaction was sent after it.
 */
import { afterEach, expect, test, vi } from "vitest";
import { setServices } from "@/lib/composition";
import {
  getPrivateBalances,
  getPrivateTransfer,
  privateTransfer,
  shield,
} from "@/lib/contracts/privacy";
import { isFinal } from "@/lib/core/status";
import { processVariables } from "@/lib/dev/testing/api-process";
import { testAccount } from "@/lib/dev/testing/factories";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { fundedCustomer, type FundedCustomer } from "@/lib/dev/testing/funded-customer";
import { DRILL_REQUEST, restoreDrill } from "@/lib/dev/testing/restore-drill";
import { workerProcesses } from "@/lib/dev/testing/worker-process";
import { afterFile } from "@/lib/dev/testing/after-file";
import { startWorker } from "@/lib/workers/runner";

/** A proof occupies all cores for some seconds. */
const WAIT = { timeout: 150_000, interval: 50 };
const ONE_USDC = 1_000_000n;

const drill = await restoreDrill({ hasAssociation: true });
const { postgres, one, usdc, api } = drill;
const { chainId } = one;
const workers = workerProcesses();
const proxy = await startFaultProxy(one.rpcUrl);
afterFile(() => proxy.close());

const spendable = async ({ client }: FundedCustomer, amount: string): Promise<void> => {
  await vi.waitFor(async () => {
    const { data } = await client.call(getPrivateBalances, { query: {} });
    expect(
      data.find((each) => each.chainId === chainId && each.token.symbol === "USDC")?.spendable,
    ).toBe(amount);
  }, WAIT);
};

const transfer = ({ client }: FundedCustomer, toAddress: `0x${string}`, amount: string) =>
  client.call(privateTransfer, {
    body: { chainId, token: "USDC", amount, toAddress, acceptSmallSet: true },
  });

const ended = ({ client }: FundedCustomer, id: string) =>
  vi.waitFor(async () => {
    const found = await client.call(getPrivateTransfer, { params: { id } });
    if (!isFinal(found.status)) throw new Error(`It is ${found.status}.`);
    return found;
  }, WAIT);

const usdcOf = (owner: `0x${string}`): Promise<bigint> => drill.balanceOf(usdc, owner);

const sentFor = (operationId: string) =>
  api.services.database.prisma.chainTransaction.findMany({
    where: { purpose: { startsWith: `privacy:${operationId}:` } },
  });

/** A customer with a note; no worker runs. */
const customerWithNote = async (): Promise<FundedCustomer> => {
  const customer = await fundedCustomer(api);
  const worker = startWorker(api.services, { searchesDeposits: false });
  await customer.client.call(shield, { body: { chainId, token: "USDC", amount: "100" } });
  await spendable(customer, "99.9");
  await worker.stop();
  return customer;
};

/** A transfer without a proof. */
const queueTransfer = async (recipient: `0x${string}`) => {
  const customer = await customerWithNote();
  const { transferId, operationId } = await transfer(customer, recipient, "25");
  return { customer, transferId, operationId, backup: await postgres.backUp() };
};

/** A transfer whose proof is stored. */
const proveTransfer = async (recipient: `0x${string}`) => {
  const customer = await customerWithNote();

  // The chain does not return the transaction's gas to this worker, so it stops after the proof.
  proxy.on({ fault: { kind: "hang" }, methods: ["eth_estimateGas"] });
  const held = await workers.start({
    ...processVariables(api),
    [`RPC_URL_${String(chainId)}`]: proxy.url,
  });
  await held.begin();
  const { transferId, operationId } = await transfer(customer, recipient, "25");
  await vi.waitFor(async () => {
    const step = await api.services.database.prisma.privacyStep.findFirstOrThrow({
      where: { operationId },
    });
    expect(step.state).toBe("proved");
  }, WAIT);
  const backup = await postgres.backUp();
  held.kill();
  await held.exited;
  expect(await sentFor(operationId)).toEqual([]);
  return { customer, transferId, operationId, backup };
};

afterEach(() => {
  setServices(api.services);
});

type Begun = Awaited<ReturnType<typeof queueTransfer>>;

/** Sends the transfer, and continues from the backup, where the accepted movement ends it. */
const endByMove = async (
  recipient: `0x${string}`,
  { customer, transferId, operationId, backup }: Begun,
): Promise<void> => {
  const worker = startWorker(api.services, { searchesDeposits: false });
  expect((await ended(customer, transferId)).status).toBe("completed");
  await worker.stop();
  expect(await usdcOf(recipient)).toBe(25n * ONE_USDC);
  const [sent] = await sentFor(operationId);
  const sentBefore = await drill.sentByExecutor();

  const services = await drill.beginElsewhere(backup);
  const { reconciliation } = services;
  await expect(transfer(customer, recipient, "25")).rejects.toMatchObject({
    code: "signing_off",
  });
  await drill.letTimePass();
  const report = await reconciliation.reconcile(DRILL_REQUEST);
  expect(report).toMatchObject({ isAllowed: false, faults: [] });
  expect(report.unknown.map(({ hash }) => hash)).toEqual([sent?.minedHash]);
  expect(report.unknown[0]?.payments).toContainEqual({
    to: recipient,
    token: usdc,
    symbol: "USDC",
    amount: "25",
  });
  const accept = report.unknown.map(({ hash }) => hash);
  expect(await reconciliation.reconcile({ ...DRILL_REQUEST, accept })).toMatchObject({
    isAllowed: true,
  });

  const again = await ended(customer, transferId);
  expect(again).toMatchObject({
    status: "completed",
    received: { amount: "25" },
    steps: [{ txHash: sent?.minedHash }],
  });
  expect([await usdcOf(recipient), await drill.sentByExecutor()]).toEqual([
    25n * ONE_USDC,
    sentBefore,
  ]);
  await expect(transfer(customer, recipient, "25")).rejects.toMatchObject({
    code: "paid_already",
  });
  await spendable(customer, "74.9");
};

test("a private transfer that was queued at the backup, and proved and sent after it, pays its recipient once", async () => {
  const recipient = testAccount().address;
  await endByMove(recipient, await queueTransfer(recipient));
}, 600_000);

test("a private transfer that was proved at the backup and sent after it pays its recipient once, and the wallet goes on", async () => {
  const [recipient, next] = [testAccount().address, testAccount().address];
  const begun = await proveTransfer(recipient);
  await endByMove(recipient, begun);
  const { customer } = begun;
  const sentBefore = await drill.sentByExecutor();
  const { transferId: later } = await transfer(customer, next, "10");
  expect((await ended(customer, later)).status).toBe("completed");
  expect([await usdcOf(next), await drill.sentByExecutor()]).toEqual([
    10n * ONE_USDC,
    sentBefore + 1,
  ]);
}, 600_000);

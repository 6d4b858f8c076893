import { createPublicClient, http, type Address } from "viem";
import { expect, test, vi } from "vitest";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { isFinal } from "@/lib/core/status";
import { startWorker } from "@/lib/workers/runner";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { executionsOf } from "@/lib/dev/testing/executions";
import { fundedCustomer, sendUsdc } from "@/lib/dev/testing/funded-customer";
import { waitUntilFinal } from "@/lib/dev/testing/journey";
import { losePaid } from "@/lib/dev/testing/payout-doubts";
import { idOf, pay, read, row, someone } from "@/lib/dev/testing/payout-requests";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";

// The fees of operations that the database lost (by a restore from a backup) are charged to the
// project's budget.
const CHAIN = 31337;
const [api, { rpcUrls }] = await Promise.all([testApi(), testDevnet()]);
const { services } = api;
const { prisma } = services.database;
const client = createPublicClient({ transport: http(rpcUrls[String(CHAIN)]) });

const paidOnChain = async (account: Address): Promise<bigint> => {
  const { entryPoint, paymaster } = services.registry.get(CHAIN).contracts;
  const executed = await executionsOf(client, entryPoint, account);
  expect(
    executed.every(({ args }) => args.paymaster.toLowerCase() === paymaster?.toLowerCase()),
  ).toBe(true);
  return executed.reduce((sum, { args }) => sum + args.actualGasCost, 0n);
};

const usageOf = async (projectId: string): Promise<{ reserved: string; used: string }> => {
  const { reservedWei, usedWei } = await prisma.sponsorUsage.findFirstOrThrow({
    where: { projectId },
  });
  return { reserved: reservedWei.toFixed(0), used: usedWei.toFixed(0) };
};

test("the fee of a lost batch of a payout counts once, also when its doubt is decided", async () => {
  const { client: key, session, projectId, treasury } = await fundedCustomer(api);
  const id = idOf(await pay(key, [row(someone(), "4")]));
  await losePaid(services, id);
  const spent = { reserved: "0", used: String(await paidOnChain(treasury)) };
  expect(spent.used).not.toBe("0");
  expect(await usageOf(projectId)).toEqual(spent);
  await expectBudgetsToFitLegs(services.database);
  const body = { batch: 0, decision: "by_chain" } as const;
  await session.client.call(decidePayoutDoubt, { params: { id }, body });
  expect(await usageOf(projectId)).toEqual(spent);
  await expectBudgetsToFitLegs(services.database);
  expect(await read(key, id)).toMatchObject({
    status: "completed",
    networkFee: { paidBy: "sponsor", estimated: false },
  });
});

test("the fee of the operation that was executed in place of a leg's counts once", async () => {
  const customer = await fundedCustomer(api);
  const { client: key, projectId, treasury } = customer;
  const worker = startWorker(services);
  const { operationId } = await sendUsdc(customer, "5");
  expect(await waitUntilFinal(key, operationId)).toMatchObject({ status: "completed" });
  await worker.stop();
  const spent = { reserved: "0", used: String(await paidOnChain(treasury)) };
  expect(await usageOf(projectId)).toEqual(spent);

  // Restores the rows of an earlier backup, with an operation that was signed again since: it has
  // expired, and its nonce is used.
  const leg = await prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
  await prisma.sponsorUsage.updateMany({
    where: { projectId },
    data: { usedWei: 0, reservedWei: leg.sponsorReservedWei ?? 0 },
  });
  await prisma.operationLeg.update({
    where: { id: leg.id },
    data: {
      ...{ state: "submitted", userOpHash: `0x${"ab".repeat(32)}`, version: { increment: 1 } },
      ...{
        sourceTxHash: null,
        sourceBlock: null,
        sourceConfirmations: 0,
        gasCostWei: null,
        gasPaidBy: null,
      },
      ...{ spentBase: null, receivedBase: null, validUntil: new Date(Date.now() - 600_000) },
    },
  });
  const open = {
    status: "processing",
    subStatus: "source_submitted",
    version: { increment: 1 },
  };
  await prisma.operation.update({ where: { id: operationId }, data: open });
  await prisma.job.create({ data: { id: operationId, queue: "operation", runAt: new Date() } });
  const other = startWorker(services);
  await vi.waitFor(
    async () => {
      const { status } = await prisma.operation.findUniqueOrThrow({
        where: { id: operationId },
      });
      expect(isFinal(status as "failed")).toBe(true);
    },
    { timeout: 40_000, interval: 100 },
  );
  await other.stop();
  expect(await waitUntilFinal(key, operationId)).toMatchObject({
    ...{ status: "failed", failure: { code: "source_replaced" } },
    fees: expect.arrayContaining([
      expect.objectContaining({ kind: "network", paidBy: "sponsor" }),
    ]) as unknown,
  });
  expect(await usageOf(projectId)).toEqual(spent);
  await expectBudgetsToFitLegs(services.database);
});

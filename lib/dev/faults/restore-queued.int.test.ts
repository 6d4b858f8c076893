/**
 * A transfer that was queued at the time of the backup, and which another operation paid after it.
 */
import { afterEach, expect, test } from "vitest";
import { setServices, type Services } from "@/lib/composition";
import { getOperation, retryOperation } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fundedCustomer,
  sendUsdc,
  type FundedCustomer,
} from "@/lib/dev/testing/funded-customer";
import { waitUntilFinal } from "@/lib/dev/testing/journey";
import { otherServices } from "@/lib/dev/testing/other-services";
import { DRILL_REQUEST, restoreDrill } from "@/lib/dev/testing/restore-drill";
import { startWorker } from "@/lib/workers/runner";

const TEN_USDC = 10_000_000n;

const drill = await restoreDrill();
const { postgres, usdc, api } = drill;
afterEach(() => {
  setServices(api.services);
});

/**
 * Simulates an acceptance twenty minutes ago, because a leg that was queued for ten minutes is not
 * signed any more.
 */
const makeLate = async ({ database }: Services, operationId: string): Promise<void> => {
  const past = new Date(Date.now() - 20 * 60_000);
  await database.prisma.operation.update({
    where: { id: operationId },
    data: { acceptedAt: past, createdAt: past },
  });
};

const retry = async ({ client }: FundedCustomer, id: string): Promise<string> => {
  const quote = await client.call(retryOperation, { params: { id } });
  if (!("quoteId" in quote)) throw new Error("The retry of a transfer is a quote.");
  const body = { quoteId: quote.quoteId };
  await client.call(prepareSwap, { body });
  return (await client.call(executeSwap, { body })).operationId;
};

/**
 * A transfer that is queued at the backup, then fails because it was not sent in time, and is paid
 * by its retry.
 */
const payByRetry = async (recipient: `0x${string}`) => {
  const customer = await fundedCustomer(api);
  const { operationId } = await sendUsdc(customer, "10", recipient);
  const backup = await postgres.backUp();
  await makeLate(api.services, operationId);
  // A different instance than the accepting one, which has it cached.
  const other = otherServices(api.services, postgres.url, drill.registry);
  const worker = startWorker(other, { searchesDeposits: false });
  const late = await waitUntilFinal(customer.client, operationId);
  expect(late).toMatchObject({
    status: "failed",
    legs: [{ failure: { code: "not_sent_in_time", retryable: true } }],
  });
  expect(
    (await waitUntilFinal(customer.client, await retry(customer, operationId))).status,
  ).toBe("completed");
  await worker.stop();
  expect(await drill.balanceOf(usdc, recipient)).toBe(TEN_USDC);
  return { customer, operationId, backup };
};

test.each([
  ["in time", () => Promise.resolve()],
  ["late", makeLate],
])(
  "a transfer that is queued in the backup and was paid by its retry is not paid again when it is driven %s",
  async (_, before) => {
    const recipient = testAccount().address;
    const { customer, operationId, backup } = await payByRetry(recipient);
    const services = await drill.beginElsewhere(backup);
    await before(services, operationId);
    const sentBefore = await drill.sentByExecutor();
    await drill.letTimePass();
    const { reconciliation } = services;
    const report = await reconciliation.reconcile(DRILL_REQUEST);
    expect(report.unknown.map(({ payments }) => payments)).toEqual([
      [{ to: recipient, token: usdc, symbol: "USDC", amount: "10" }],
    ]);
    const accept = report.unknown.map(({ hash }) => hash);
    expect(await reconciliation.reconcile({ ...DRILL_REQUEST, accept })).toMatchObject({
      isAllowed: true,
    });

    const ended = await waitUntilFinal(customer.client, operationId);
    expect(ended).toMatchObject({
      status: "failed",
      may: { retry: false },
      legs: [{ failure: { code: "source_replaced", retryable: false } }],
    });
    await expect(retry(customer, operationId)).rejects.toMatchObject({ code: "invalid_state" });
    expect(
      (await customer.client.call(getOperation, { params: { id: operationId } })).retriedBy,
    ).toBeNull();
    await expect(sendUsdc(customer, "10", recipient)).rejects.toMatchObject({
      code: "paid_already",
    });
    expect([await drill.balanceOf(usdc, recipient), await drill.sentByExecutor()]).toEqual([
      TEN_USDC,
      sentBefore,
    ]);
  },
  300_000,
);

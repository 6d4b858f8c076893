import { expect, test, vi } from "vitest";
import { listNotifications } from "@/lib/contracts/notifications";
import { getOperation } from "@/lib/contracts/operations";
import { testApi } from "@/lib/dev/testing/api";
import { fundedCustomer, sendUsdc } from "@/lib/dev/testing/funded-customer";
import { recordEventsOn } from "@/lib/news/events/service";

const WAIT = { timeout: 60_000, interval: 100 };
const api = await testApi({ worker: true });
const { database, notifying } = api.services;
const sending = api.services.startWebhooks("worker-of-this-test");

test("the news of a failure says where the money is in the words of the operation's own record", async () => {
  const of = await fundedCustomer(api);
  const { operationId } = await sendUsdc(of, "5");
  const { prisma } = database;
  await vi.waitFor(
    async () =>
      expect(
        await prisma.operation.findUniqueOrThrow({ where: { id: operationId } }),
      ).toMatchObject({ status: "completed" }),
    WAIT,
  );
  const failure = { code: "reverted", message: "The transaction reverted.", retryable: false };
  await prisma.operationLeg.updateMany({
    where: { operationId },
    data: { state: "failed", receivedBase: null },
  });
  await prisma.operation.update({
    where: { id: operationId },
    data: { status: "failed", failure },
  });
  await database.rawTransaction((sql) =>
    recordEventsOn(sql, [
      {
        projectId: of.projectId,
        type: "operation.failed",
        objectId: operationId,
        data: { kind: "transfer", failure },
        at: new Date(),
      },
    ]),
  );
  const { outcome } = await of.session.client.call(getOperation, {
    params: { id: operationId },
  });
  expect(outcome.nextAction).toMatch(/The money is in 0x/);
  await vi.waitFor(async () => {
    await notifying.makeDue();
    const { data } = await of.session.client.call(listNotifications, { query: {} });
    const [news] = data.filter(({ objectId }) => objectId === operationId);
    expect(news?.detail).toBe(`${failure.message} ${outcome.nextAction}`);
  }, WAIT);
  await sending.stop();
}, 120_000);

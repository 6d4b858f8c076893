import { beforeAll, expect, test, vi } from "vitest";
import { cancelPayout, retryPayout } from "@/lib/contracts/payouts";
import type { ApiClient } from "@/lib/api-client/client";
import { isFinal } from "@/lib/core/status";
import { REPLACED } from "@/lib/money/payouts/wallets/batches/failures";
import { startWorker } from "@/lib/workers/runner";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { balanceOnChain, fund } from "@/lib/dev/testing/journey";
import {
  heldBy,
  idOf,
  itemsOf,
  newContractOn,
  newPayer,
  pay,
  PAYOUT_CHAIN,
  read,
  refusal,
  row,
  someone,
} from "@/lib/dev/testing/payout-requests";
import { eventsOf, eventTypesOf } from "@/lib/dev/testing/project-events";

// No worker runs, so that an accepted payout stays in the state in which it was accepted; one test
// starts a worker of its own.
let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

test("a payout that was accepted can be cancelled before it begins: its rows are cancelled, and what it held is free", async () => {
  const { key } = await newPayer(api, "10");
  const id = idOf(await pay(key, [row(someone(), "9")]));
  const cancelled = await key.call(cancelPayout, { params: { id } });
  expect(cancelled).toMatchObject({
    status: "cancelled",
    items: { cancelled: 1, queued: 0 },
    may: { cancel: false },
  });
  expect(await itemsOf(key, id)).toMatchObject([{ status: "cancelled" }]);
  expect(await heldBy(api, id)).toEqual([]);
  expect(await pay(key, [row(someone(), "9")])).toMatchObject({ subStatus: "queued" });
  expect(await key.call(cancelPayout, { params: { id } })).toMatchObject({
    id,
    status: "cancelled",
  });
  expect(await refusal(key.call(retryPayout, { params: { id } }))).toMatchObject({
    code: "invalid_state",
  });
  expect(await eventTypesOf(api.services.database, id)).toEqual([
    "payout.created",
    "payout.cancelled",
  ]);
});

test("a payout that was accepted expires when nobody approves it, and its rows may be paid by another", async () => {
  const { person, key } = await newPayer(api, "10");
  const to = someone();
  const id = idOf(await pay(person, [row(to)]));
  await api.services.database.prisma.payout.updateMany({
    where: { id },
    data: { expiresAt: new Date(0) },
  });
  await api.services.expireDue();
  expect(await read(person, id)).toMatchObject({ status: "expired", items: { cancelled: 1 } });
  expect(await eventTypesOf(api.services.database, id)).toEqual([
    "payout.created",
    "payout.expired",
  ]);
  expect(await refusal(pay(key, [row(to)]))).toMatchObject({ code: "ok" });
});

test("a payout that was accepted stops what was not sent yet, pays the rest, and retry pays the failed rows alone, once", async () => {
  const { key, person, customer } = await newPayer(api, "100");
  await fund(person, customer.treasury, {
    chainId: PAYOUT_CHAIN,
    token: "native",
    amount: "1",
  });
  const { address: refusing, clear } = await newContractOn(
    api.services.registry.get(PAYOUT_CHAIN).rpcUrls[0] ?? "",
  );
  const to = someone();
  const rows = [
    row(to, "5"),
    row(refusing, "0.1", { token: "native" }),
    row(to, "0.2", { token: "native" }),
  ];
  const id = idOf(await pay(key, rows));
  const worker = startWorker(api.services);
  try {
    const done = await settled(key, id);
    expect(done).toMatchObject({
      kind: "wallets",
      status: "partially_completed",
      items: { paid: 2, failed: 1 },
    });
    expect(done.may).toEqual({ approve: false, cancel: false, retry: true });
    expect(done.nextAction).toContain(customer.treasury);
    const url = api.services.registry.get(PAYOUT_CHAIN).rpcUrls[0] ?? "";
    expect(await balanceOnChain(url, "native", to)).toBe(200_000_000_000_000_000n);
    const failed = await itemsOf(key, id, "failed");
    expect(failed).toMatchObject([
      { index: 1, address: refusing, failure: { retryable: expect.any(Boolean) as boolean } },
    ]);
    expect(await itemsOf(key, id, "paid")).toHaveLength(2);
    const events = await eventsOf(api.services.database, id);
    expect(events.map(({ type, payload }) => [type, payload])).toMatchObject([
      ["payout.created", { payoutId: id, kind: "wallets", status: "pending", itemsTotal: 3 }],
      ["payout.processing", { status: "processing" }],
      [
        "payout.item.failed",
        { payoutId: id, index: 1, failure: { code: "simulation_failed", retryable: true } },
      ],
      [
        "payout.partially_completed",
        { status: "partially_completed", itemsCompleted: 2, itemsFailed: 1 },
      ],
    ]);
    // A failed row is no duplicate; a paid one is.
    expect(await refusal(pay(key, [rows[1] ?? row(to)], { validateOnly: true }))).toMatchObject(
      {
        code: "ok",
      },
    );
    expect(await refusal(pay(key, [rows[0] ?? row(to)]))).toMatchObject({
      code: "duplicate_payout",
    });
    await clear();
    // A row that another operation may have paid is not retried.
    const { prisma } = api.services.database;
    const { projectId } = await prisma.payout.findUniqueOrThrow({ where: { id } });
    const item = { projectId_payoutId_index: { projectId, payoutId: id, index: 1 } };
    const { failure } = await prisma.walletPayoutItem.findUniqueOrThrow({ where: item });
    const doubtful = {
      code: "source_replaced",
      message: "It may have been paid.",
      retryable: false,
    };
    await prisma.walletPayoutItem.update({ where: item, data: { failure: doubtful } });
    expect(await refusal(key.call(retryPayout, { params: { id } }))).toMatchObject({
      code: "invalid_state",
    });
    await prisma.walletPayoutItem.update({ where: item, data: { failure: failure ?? {} } });
    const tries = await Promise.all(
      Array.from({ length: 3 }, () =>
        key.call(retryPayout, { params: { id } }).then(
          (made) => made.payoutId,
          () => null,
        ),
      ),
    );
    const [again = "", ...others] = tries.filter((each) => each !== null);
    expect(others).toEqual([]);
    expect(await settled(key, again)).toMatchObject({
      status: "completed",
      retryOf: id,
      items: { total: 1, paid: 1 },
    });
    expect(await balanceOnChain(url, "native", refusing)).toBe(100_000_000_000_000_000n);
    // Once a retry has paid a row, the same payment is a duplicate.
    expect(await refusal(pay(key, [rows[1] ?? row(to)]))).toMatchObject({
      code: "duplicate_payout",
    });
    expect((await read(key, id)).may.retry).toBe(false);
    expect([await heldBy(api, id), await heldBy(api, again)]).toEqual([[], []]);
    const csv = await (
      await api.fetch(`/payouts/${id}/items/export`, {
        headers: { authorization: `Bearer ${customer.session.accessToken}` },
      })
    ).text();
    expect(csv.split("\r\n")[0]).toBe(
      "index,address,amount,token,tokenAddress,reference,note,status,batch,transaction,block,failure,failureCode",
    );
    expect(csv.split("\r\n")[1]).toMatch(
      new RegExp(`^0,${to},5,USDC,0x.*,paid,0,0x[0-9a-f]{64},[0-9]+,,$`),
    );
  } finally {
    await worker.stop();
  }
});

test("a payout that was accepted is cancelled while it runs: batches that were not signed are stopped, and the others end it", async () => {
  const { key, person, customer } = await newPayer(api, "10");
  await fund(person, customer.treasury, { chainId: PAYOUT_CHAIN, token: "DAI", amount: "5" });
  const id = idOf(await pay(key, [row(someone(), "5"), row(someone(), "2", { token: "DAI" })]));
  const { prisma } = api.services.database;
  const firstBatch = { payoutId: id, number: 0 };
  await prisma.payout.updateMany({ where: { id }, data: { status: "processing" } });
  await prisma.walletPayoutBatch.updateMany({ where: firstBatch, data: { state: "signed" } });
  expect((await read(key, id)).may.cancel).toBe(true);
  // Only the signed batch is left. It counts as queued, but it cannot be stopped, so the record no
  // longer offers to cancel.
  expect(await key.call(cancelPayout, { params: { id } })).toMatchObject({
    status: "processing",
    items: { queued: 1, cancelled: 1 },
    may: { cancel: false },
  });
  expect(await heldBy(api, id)).toEqual(["0:5000000"]);
  expect(await refusal(key.call(cancelPayout, { params: { id } }))).toMatchObject({
    code: "invalid_state",
  });
  expect(await itemsOf(key, id, "cancelled")).toMatchObject([{ index: 1 }]);
  await prisma.walletPayoutBatch.updateMany({
    where: firstBatch,
    data: { state: "failed", failure: { ...REPLACED } },
  });
  await prisma.payout.updateMany({ where: { id }, data: { status: "failed", itemsFailed: 1 } });
  const { nextAction, may } = await read(key, id);
  expect(nextAction).toMatch(
    /^This payout paid nothing itself\. Another operation .* may have paid 1 row: /,
  );
  expect(nextAction).toContain(
    `The money of the other 1 row is in the treasury ${customer.treasury}`,
  );
  expect(may).toEqual({ approve: false, cancel: false, retry: false });
  await prisma.job.deleteMany({ where: { id } });
});

const settled = (client: ApiClient, id: string) =>
  vi.waitFor(
    async () => {
      const payout = await read(client, id);
      if (!isFinal(payout.status)) throw new Error(`The payout is ${payout.status}.`);
      return payout;
    },
    { timeout: 45_000, interval: 100 },
  );

import { beforeAll, expect, test } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import { listAuditLog } from "@/lib/contracts/audit";
import type { BodyInput } from "@/lib/contracts/contract";
import { readProjectInbox } from "@/lib/contracts/inbox";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { verifyLedger } from "@/lib/books/ledger/verify";
import { attemptName } from "@/lib/money/payouts/wallets/batches/payout-batch";
import { createExecutedAttempts } from "@/lib/chain/smart-accounts/executed-attempts";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import type { Customer } from "@/lib/dev/testing/journey";
import {
  idOf,
  itemsOf,
  newPayer,
  pay,
  read,
  refusal,
  row,
  someone,
} from "@/lib/dev/testing/payout-requests";
import { doubtUnseen, losePaid } from "@/lib/dev/testing/payout-doubts";
import { eventsOf, eventTypesOf } from "@/lib/dev/testing/project-events";
import { newWithdrawer, postedOf, transitOf } from "@/lib/dev/testing/withdrawals";

const CHAIN = 31337;

let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

/** An account of 10 USDC; the treasury has more, so that it could pay a second time. */
const withAccount = () => newWithdrawer(api, { treasury: "30", funded: "10" });

const prismaOf = () => api.services.database.prisma;

type Decision = BodyInput<typeof decidePayoutDoubt>;

const decide = (client: ApiClient, id: string, body: Decision) =>
  client.call(decidePayoutDoubt, { params: { id }, body });

const state = ({ session }: Customer, id: string, decision: "paid" | "not_paid") =>
  withApproval(session.account, (approval) =>
    decide(session.client, id, {
      batch: 0,
      decision,
      reason: "Explorer",
      ...(approval ? { approval } : {}),
    }),
  );

const byChain: Decision = { batch: 0, decision: "by_chain" };

const expectBooksToBalance = async (): Promise<void> => {
  expect((await verifyLedger(api.services.database.pool)).violations).toEqual([]);
};

const decisionsOf = async (client: ApiClient, subject: string) =>
  (await client.call(listAuditLog, { query: { subject } })).data.filter(
    ({ action }) => action === "payout.doubt_decided",
  );

test("a withdrawal that the chain paid and the database lost is settled as the chain shows, once, and no statement can say otherwise", async () => {
  const { key, person, customer, account } = await withAccount();
  const id = idOf(
    await pay(key, [row(someone(), "4"), row(someone(), "2")], { sourceAccountId: account }),
  );
  await losePaid(api.services, id);
  const doubtful = await read(person, id);
  expect(doubtful).toMatchObject({
    status: "failed",
    account: { paid: "0", returned: "0", inTransit: "6" },
    doubts: [{ batch: 0, rows: 2, amount: "6", token: { symbol: "USDC" } }],
    may: { retry: false },
  });
  const { data } = await person.call(readProjectInbox);
  expect(data.find((item) => item.id === id)).toMatchObject({
    ...{ kind: "doubt", mine: true, path: `/payouts/${id}#doubt` },
    toDo: "This payment is in doubt. Do not pay it again before you have decided: let the service check the chain.",
  });
  expect(
    await refusal(decide(person, id, { batch: 0, decision: "not_paid", reason: "I say so" })),
  ).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("The chain shows what became of this part") as string,
  });
  // As long as its block is not final, the operation decides nothing: another attempt may follow
  // it.
  const { registry } = api.services;
  const asked = {
    chainId: CHAIN,
    account: customer.treasury,
    names: [attemptName({ payoutId: id, number: 0 }, 1)],
  };
  const since = new Date(Date.now() - 600_000);
  expect(await createExecutedAttempts({ registry })({ ...asked, since })).toMatchObject([
    [{ success: true }],
    [{ success: true }],
  ]);
  const get: typeof registry.get = (chainId) => ({
    ...registry.get(chainId),
    confirmations: 1_000_000,
  });
  const young: typeof registry = { ...registry, get, throughProvider: () => young };
  await expect(
    createExecutedAttempts({ registry: young })({ ...asked, since }),
  ).rejects.toMatchObject({
    code: "chain_unavailable",
    message: expect.stringContaining("are not final yet") as string,
  });
  const tries = await Promise.all(
    Array.from({ length: 3 }, () => refusal(decide(person, id, byChain))),
  );
  expect(tries.map(({ code }) => code).sort()).toEqual([
    "invalid_state",
    "invalid_state",
    "ok",
  ]);
  expect(await read(person, id)).toMatchObject({
    status: "completed",
    failure: null,
    items: { paid: 2, failed: 0 },
    account: { paid: "6", returned: "0", inTransit: "0" },
    doubts: [],
  });
  expect(
    (await itemsOf(person, id)).every(
      (item) => item.kind === "wallets" && item.txHash !== null,
    ),
  ).toBe(true);
  expect([await postedOf(person, account), await transitOf(person)]).toEqual(["4", "0"]);
  const types = await eventTypesOf(api.services.database, id);
  expect(types.slice(-3)).toEqual([
    "payout.failed",
    "payout.doubt_decided",
    "payout.completed",
  ]);
  expect(await decisionsOf(customer.session.client, id)).toMatchObject([
    { data: { decision: "by_chain", amount: "6 USDC" } },
  ]);
  await expectBooksToBalance();
});

test("a row that the chain shows as not paid is returned to the account, and can be withdrawn again", async () => {
  const { key, person, account } = await withAccount();
  const id = idOf(
    await pay(key, [row(someone(), "4"), row(someone(), "2")], { sourceAccountId: account }),
  );
  await losePaid(api.services, id);
  // Another recipient than the lost transaction paid.
  await prismaOf().walletPayoutItem.updateMany({
    where: { payoutId: id, index: 1 },
    data: { recipient: someone() },
  });
  expect(await decide(person, id, byChain)).toMatchObject({
    status: "partially_completed",
    items: { paid: 1, failed: 1 },
    account: { paid: "4", returned: "2", inTransit: "0" },
    may: { retry: true },
  });
  expect((await eventsOf(api.services.database, id)).slice(-5)).toMatchObject([
    { type: "payout.item.failed", payload: { index: 0 } },
    { type: "payout.item.failed", payload: { index: 1 } },
    { type: "payout.failed" },
    {
      type: "payout.doubt_decided",
      payload: { payoutId: id, batch: 0, decision: "by_chain", paidRows: [0], unpaidRows: [1] },
    },
    { type: "payout.partially_completed", payload: { itemsCompleted: 1, itemsFailed: 1 } },
  ]);
  expect([await postedOf(person, account), await transitOf(person)]).toEqual(["6", "0"]);
  await expectBooksToBalance();
});

test("where the chain shows nothing, a person states that it was not paid: the account gets it back, with an approval and a reason", async () => {
  const { key, person, customer, account } = await withAccount();
  const id = idOf(await pay(key, [row(someone(), "6")], { sourceAccountId: account }));
  expect(await refusal(decide(person, id, byChain))).toMatchObject({ code: "invalid_state" });
  await doubtUnseen(api.services, id);
  expect(await refusal(decide(person, id, byChain))).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("shows no transaction of this part") as string,
  });
  expect(
    await refusal(decide(person, id, { batch: 0, decision: "not_paid", reason: "Explorer" })),
  ).toMatchObject({
    code: "approval_required",
  });
  expect(await postedOf(person, account)).toBe("4");
  expect(await state(customer, id, "not_paid")).toMatchObject({
    status: "failed",
    account: { paid: "0", returned: "6", inTransit: "0" },
    doubts: [],
    may: { retry: true },
  });
  expect(await refusal(state(customer, id, "paid"))).toMatchObject({ code: "invalid_state" });
  expect([await postedOf(person, account), await transitOf(person)]).toEqual(["10", "0"]);
  expect(await decisionsOf(person, id)).toMatchObject([
    { data: { decision: "not_paid", reason: "Explorer" } },
  ]);
  // The row and the payout had failed already, so the decision is the only news.
  const types = await eventTypesOf(api.services.database, id);
  expect(types.slice(-3)).toEqual([
    "payout.item.failed",
    "payout.failed",
    "payout.doubt_decided",
  ]);
  await expectBooksToBalance();
});

test("a statement that it was paid settles it as paid; keys and other projects decide nothing", async () => {
  const { key, customer, account } = await withAccount();
  const id = idOf(await pay(key, [row(someone(), "6")], { sourceAccountId: account }));
  await doubtUnseen(api.services, id);
  const stranger = await newPayer(api, "1");
  expect(await refusal(decide(stranger.person, id, byChain))).toMatchObject({ status: 404 });
  expect(await refusal(decide(key, id, byChain))).toMatchObject({ status: 403 });
  expect(await state(customer, id, "paid")).toMatchObject({
    status: "completed",
    account: { paid: "6", returned: "0", inTransit: "0" },
  });
  expect([
    await postedOf(customer.session.client, account),
    await transitOf(customer.session.client),
  ]).toEqual(["4", "0"]);
  await expectBooksToBalance();
});

import { beforeAll, expect, test, vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import {
  closeGlobalAccount,
  createGlobalAccount,
  freezeGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
  listEntries,
} from "@/lib/contracts/global-accounts";
import { listActivity } from "@/lib/contracts/activity";
import { cancelPayout, createWalletsPayout, retryPayout } from "@/lib/contracts/payouts";
import { getReserves } from "@/lib/contracts/reserves";
import { isFinal } from "@/lib/core/status";
import { verifyLedger } from "@/lib/books/ledger/verify";
import { REPLACED } from "@/lib/money/payouts/wallets/batches/failures";
import { createBatchRepository } from "@/lib/money/payouts/wallets/batches/repository";
import { eventsOf } from "@/lib/dev/testing/project-events";
import { startWorker } from "@/lib/workers/runner";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { balanceOnChain, fund } from "@/lib/dev/testing/journey";
import {
  approve,
  heldBy,
  idOf,
  newContractOn,
  newPayer,
  pay,
  PAYOUT_CHAIN,
  read,
  refusal,
  row,
  someone,
} from "@/lib/dev/testing/payout-requests";

// No worker runs, so that a withdrawal stays as it was accepted; tests that need one start their
// own.
let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

/** An account that holds all that the treasury has, so that nothing is left to back any more. */
const newAccount = async (
  client: ApiClient,
  amount: string,
  currency = "USDC",
): Promise<string> => {
  const { id } = await client.call(createGlobalAccount, { body: { currency } });
  await vi.waitFor(
    () => client.call(fundGlobalAccount, { params: { id }, body: { amount, currency } }),
    {
      timeout: 20_000,
      interval: 200,
    },
  );
  return id;
};

const withAccount = async (amount = "10") => {
  const payer = await newPayer(api, amount);
  return { ...payer, account: await newAccount(payer.person, amount) };
};

const balanceOf = async (client: ApiClient, id: string) =>
  (await client.call(getGlobalAccount, { params: { id } })).balance;

const reservesOf = async (client: ApiClient, currency = "USDC") => {
  const { data } = await client.call(getReserves);
  const found = data.find((each) => each.currency === currency);
  if (found === undefined) throw new Error("There are no reserves.");
  const { liabilities, inTransit, committed, onChain, available, covered } = found;
  return { liabilities, inTransit, committed, onChain, available, covered };
};

const worked = async (client: ApiClient, id: string) => {
  const worker = startWorker(api.services);
  try {
    await vi.waitFor(async () => expect(isFinal((await read(client, id)).status)).toBe(true), {
      timeout: 40_000,
      interval: 100,
    });
    return await read(client, id);
  } finally {
    await worker.stop();
  }
};

const expectBooksToBalance = async (): Promise<void> => {
  expect((await verifyLedger(api.services.database.pool)).violations).toEqual([]);
};

test("a withdrawal debits the account and holds the treasury's money in one step, is paid, and the reserves agree before, during and after", async () => {
  const { key, person, account } = await withAccount("10");
  const before = {
    liabilities: "10",
    inTransit: "0",
    committed: "0",
    onChain: "10",
    available: "0",
    covered: true,
  };
  expect(await reservesOf(person)).toEqual(before);
  const to = someone();
  const id = idOf(await pay(key, [row(to, "6")], { sourceAccountId: account }));
  expect(await balanceOf(person, account)).toEqual({
    available: "4",
    pending: "0",
    posted: "4",
  });
  expect(await heldBy(api, id)).toEqual(["0:6000000"]);
  expect(await reservesOf(person)).toEqual({
    ...before,
    liabilities: "4",
    inTransit: "6",
    committed: "6",
  });
  expect(await read(key, id)).toMatchObject({
    account: { accountId: account, amount: "6", paid: "0", returned: "0", inTransit: "6" },
  });
  // Money in transit backs nothing else.
  const more = { params: { id: account }, body: { amount: "0.01", currency: "USDC" } };
  expect(await refusal(person.call(fundGlobalAccount, more))).toMatchObject({
    code: "insufficient_reserves",
  });

  expect(await worked(key, id)).toMatchObject({
    status: "completed",
    account: { paid: "6", returned: "0", inTransit: "0" },
  });
  const url = api.services.registry.get(PAYOUT_CHAIN).rpcUrls[0] ?? "";
  const usdc = api.services.registry.resolveToken(PAYOUT_CHAIN, "USDC").address;
  expect(await balanceOnChain(url, usdc, to)).toBe(6_000_000n);
  await vi.waitFor(
    async () =>
      expect(await reservesOf(person)).toEqual({ ...before, liabilities: "4", onChain: "4" }),
    { timeout: 20_000, interval: 200 },
  );
  const { data } = await person.call(listEntries, { params: { id: account }, query: {} });
  expect(data.map(({ kind, amount, payoutId }) => [kind, amount, payoutId])).toEqual([
    ["withdrawal", "-6", id],
    ["funding", "10", null],
  ]);
  const activity = await person.call(listActivity, { query: {} });
  expect(activity.data.find((each) => each.id === id)).toMatchObject({
    kind: "payout_to_wallets",
    source: { type: "account", accountId: account },
    counterparty: { type: "address", address: to },
  });
  await expectBooksToBalance();
  const events = await eventsOf(api.services.database, id);
  expect(events.map(({ type }) => type)).toEqual([
    "payout.created",
    "payout.processing",
    "payout.completed",
  ]);
  for (const { payload } of events) expect(payload).toMatchObject({ sourceAccountId: account });
});

test("rows that are not paid are returned to the account, exactly and once, and a retry takes them out again", async () => {
  const { key, person, customer } = await newPayer(api, "1");
  await fund(person, customer.treasury, {
    chainId: PAYOUT_CHAIN,
    token: "native",
    amount: "1",
  });
  const account = await newAccount(person, "1", "ETH");
  const { address: refusing } = await newContractOn(
    api.services.registry.get(PAYOUT_CHAIN).rpcUrls[0] ?? "",
  );
  const rows = [
    row(someone(), "0.3", { token: "native" }),
    row(refusing, "0.2", { token: "native" }),
  ];
  const id = idOf(await pay(key, rows, { sourceAccountId: account }));
  expect(await balanceOf(person, account)).toMatchObject({ posted: "0.5" });
  const ended = await worked(key, id);
  expect(ended).toMatchObject({
    status: "partially_completed",
    account: { amount: "0.5", paid: "0.3", returned: "0.2", inTransit: "0" },
  });
  expect(ended.nextAction).toContain(account);
  expect(await balanceOf(person, account)).toMatchObject({ posted: "0.7" });
  const again = await key.call(retryPayout, { params: { id } });
  expect(again).toMatchObject({
    account: { accountId: account, amount: "0.2", inTransit: "0.2" },
  });
  expect(await balanceOf(person, account)).toMatchObject({ posted: "0.5" });
  expect(await worked(key, again.payoutId)).toMatchObject({
    status: "failed",
    account: { returned: "0.2" },
  });
  expect(await balanceOf(person, account)).toMatchObject({ posted: "0.7" });
  const { data } = await person.call(listEntries, { params: { id: account }, query: {} });
  expect(data.map(({ kind, amount }) => [kind, amount])).toEqual([
    ["withdrawal_return", "0.2"],
    ["withdrawal", "-0.2"],
    ["withdrawal_return", "0.2"],
    ["withdrawal", "-0.5"],
    ["funding", "1"],
  ]);
  expect(await reservesOf(person, "ETH")).toMatchObject({
    liabilities: "0.7",
    inTransit: "0",
    covered: true,
  });
  await expectBooksToBalance();
});

test("many withdrawals at once never take more than the account has, and one key withdraws once", async () => {
  const { key, person, account } = await withAccount("10");
  const body = { sourceAccountId: account };
  const tries = await Promise.all(
    Array.from({ length: 6 }, () =>
      pay(key, [row(someone(), "4")], body).then(
        (made) => made.payoutId,
        () => null,
      ),
    ),
  );
  expect(tries.filter((id) => id !== null)).toHaveLength(2);
  expect(await balanceOf(person, account)).toMatchObject({ posted: "2" });
  const to = someone();
  const once = () =>
    key.call(createWalletsPayout, {
      body: { chainId: PAYOUT_CHAIN, transfers: [row(to, "1")], ...body },
      idempotencyKey: "once",
    });
  // While the first call runs, the others are told to come again.
  await Promise.allSettled([once(), once(), once()]);
  expect((await once()).payoutId).toBe((await once()).payoutId);
  expect(await balanceOf(person, account)).toMatchObject({ posted: "1" });
  await expectBooksToBalance();
});

test("what the account or the treasury cannot bear is refused, and neither is touched", async () => {
  const { key, person, customer, account } = await withAccount("10");
  const stranger = await withAccount("1");
  const to = someone();
  const from = (sourceAccountId: string, rest: object = {}, rows = [row(to, "1")]) =>
    refusal(pay(key, rows, { sourceAccountId, ...rest }));
  expect(await from(account, {}, [row(to, "10.5")])).toMatchObject({
    status: 422,
    code: "insufficient_balance",
  });
  expect(await from(stranger.account)).toMatchObject({ status: 404, code: "not_found" });
  expect(await from(account, {}, [row(to, "0.1", { token: "native" })])).toMatchObject({
    code: "invalid_request",
    details: [{ path: "transfers.0.token" }],
  });
  expect(await from(account, { fundFrom: "auto" })).toMatchObject({
    code: "invalid_request",
    details: [{ path: "fundFrom" }],
  });
  // The treasury holds the money on the payer's chain, and the withdrawal asks for another chain.
  expect(await from(account, { chainId: 31338 })).toMatchObject({
    code: "insufficient_balance",
  });
  // The last step of the transaction fails, after the account was debited in it.
  const { projectId } = await api.services.database.prisma.wallet.findUniqueOrThrow({
    where: { id: customer.treasuryId },
  });
  const budget = (dailyWei: bigint | null) =>
    api.services.sponsorship.setBudget(
      { projectId, chainId: PAYOUT_CHAIN },
      { dailyWei, operationWei: null },
    );
  await budget(1000n);
  expect(await from(account)).toMatchObject({ code: "sponsor_budget_exceeded" });
  await budget(null);
  await person.call(freezeGlobalAccount, {
    params: { id: account },
    body: { reason: "Audit" },
  });
  expect(await from(account)).toMatchObject({ code: "invalid_state" });
  expect(await balanceOf(person, account)).toMatchObject({ posted: "10" });
  expect(await reservesOf(person)).toMatchObject({
    liabilities: "10",
    inTransit: "0",
    committed: "0",
  });
});

test("a person's withdrawal is pending on the account until a code approves it, and a frozen account is not debited", async () => {
  const { person, customer, account } = await withAccount("10");
  const made = await pay(person, [row(someone(), "6")], { sourceAccountId: account });
  expect(made).toMatchObject({
    subStatus: "awaiting_approval",
    account: { amount: "6", inTransit: "0" },
  });
  expect(await balanceOf(person, account)).toEqual({
    available: "4",
    pending: "6",
    posted: "10",
  });
  expect(await heldBy(api, idOf(made))).toEqual([]);
  const waiting = idOf(await pay(person, [row(someone(), "3")], { sourceAccountId: account }));
  await approve(api, customer, idOf(made));
  expect(await balanceOf(person, account)).toEqual({
    available: "1",
    pending: "3",
    posted: "4",
  });
  await person.call(freezeGlobalAccount, {
    params: { id: account },
    body: { reason: "Audit" },
  });
  expect(await refusal(approve(api, customer, waiting))).toMatchObject({
    code: "invalid_state",
  });
  expect(await balanceOf(person, account)).toMatchObject({ posted: "4" });
  // Money that does not arrive is returned to the account, frozen or not.
  await person.call(cancelPayout, { params: { id: idOf(made) } });
  expect(await balanceOf(person, account)).toMatchObject({ posted: "10" });
  expect(await read(person, idOf(made))).toMatchObject({
    status: "cancelled",
    account: { returned: "6" },
  });
  await person.call(cancelPayout, { params: { id: waiting } });
  expect(await balanceOf(person, account)).toEqual({
    available: "10",
    pending: "0",
    posted: "10",
  });
  await expectBooksToBalance();
});

test("an account is not closed while a withdrawal may still be returned to it", async () => {
  const { key, person, account } = await withAccount("2");
  const id = idOf(await pay(key, [row(someone(), "2")], { sourceAccountId: account }));
  const close = () =>
    refusal(person.call(closeGlobalAccount, { params: { id: account }, body: {} }));
  expect(await close()).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("withdrawal") as string,
  });
  expect(await worked(key, id)).toMatchObject({ status: "completed" });
  expect(await close()).toMatchObject({ code: "ok" });
});

test("what another operation may have paid stays in transit: the account does not get it as well, and the payout says so", async () => {
  const { key, person, account } = await withAccount("5");
  const id = idOf(await pay(key, [row(someone(), "5")], { sourceAccountId: account }));
  const { database, sponsorship } = api.services;
  await database.prisma.payout.update({ where: { id }, data: { status: "processing" } });
  const batches = createBatchRepository(database, sponsorship);
  const { projectId } = await database.prisma.payout.findUniqueOrThrow({ where: { id } });
  const payout = await batches.find(projectId, id);
  const [batch] = await batches.open(payout);
  if (batch === undefined) throw new Error("There is no batch.");
  const fail = () => batches.fail({ payout, batch, failure: REPLACED, now: new Date() });
  expect([await fail(), await fail()]).toEqual([true, false]);
  await batches.finish(payout, new Date());
  expect(await balanceOf(person, account)).toMatchObject({ posted: "0" });
  const ended = await read(key, id);
  expect(ended).toMatchObject({
    status: "failed",
    account: { paid: "0", returned: "0", inTransit: "5" },
  });
  expect(ended.nextAction).toContain("5 stays in transit");
  expect(ended).toMatchObject({ doubts: [{ batch: 0, rows: 1, amount: "5" }] });
  expect(await reservesOf(person)).toMatchObject({ inTransit: "5" });
  expect(
    await refusal(person.call(closeGlobalAccount, { params: { id: account }, body: {} })),
  ).toMatchObject({
    code: "invalid_state",
  });
});

import { beforeAll, expect, test, vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
  listGlobalAccounts,
  reverseFunding,
} from "@/lib/contracts/global-accounts";
import {
  approvePayout,
  cancelPayout,
  createAccountsPayout,
  getPayout,
} from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { codesOf, fund, newCustomer } from "@/lib/dev/testing/journey";

const CHAIN = 31337;
let api: TestApi;
beforeAll(async () => {
  api = await testApi({ worker: true });
});

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) => error,
  );

/** A person whose payouts await a code, an account of 10 USDC, and an account to pay. */
const payer = async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const open = async () =>
    (await client.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [source, recipient] = [await open(), await open()];
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "10" });
  const body = { amount: "10", currency: "USDC" };
  const { transactionId } = await vi.waitFor(
    () => client.call(fundGlobalAccount, { params: { id: source }, body }),
    {
      timeout: 20_000,
      interval: 200,
    },
  );
  const pay = async (
    amount: string,
    mode: "atomic" | "independent" = "atomic",
  ): Promise<string> => {
    const transfers = [{ recipientAccountId: recipient, amount, currency: "USDC" }];
    const stored = await client.call(createAccountsPayout, {
      body: { sourceAccountId: source, transfers, mode },
    });
    return stored.payoutId ?? "";
  };
  return { customer, client, source, transactionId, pay };
};

const balanceOf = async (client: ApiClient, id: string) => {
  const { balance } = await client.call(getGlobalAccount, { params: { id } });
  const { data } = await client.call(listGlobalAccounts, { query: {} });
  expect(data.find((account) => account.id === id)?.balance).toEqual(balance);
  return balance;
};

test("a payout that awaits approval is pending on its account until it is cancelled, and nothing else may use the money", async () => {
  const { client, source, transactionId, pay } = await payer();
  const waiting = await pay("6");
  expect(await balanceOf(client, source)).toEqual({
    available: "4",
    pending: "6",
    posted: "10",
  });
  expect(await refusal(pay("4.1"))).toMatchObject({
    status: 422,
    code: "insufficient_balance",
    message: expect.stringMatching(/4 USDC available.*will take 6 USDC/) as unknown,
  });
  const takeBack = () =>
    client.call(reverseFunding, { params: { id: source }, body: { transactionId } });
  expect(await refusal(takeBack())).toMatchObject({
    status: 422,
    code: "insufficient_balance",
  });
  await pay("4");
  expect(await balanceOf(client, source)).toEqual({
    available: "0",
    pending: "10",
    posted: "10",
  });
  await client.call(cancelPayout, { params: { id: waiting } });
  expect(await balanceOf(client, source)).toEqual({
    available: "6",
    pending: "4",
    posted: "10",
  });
});

test("a payout that was paid is no longer pending on its account", async () => {
  const { customer, client, source, pay } = await payer();
  const id = await pay("6");
  const seen = await codesOf(api, customer);
  await client.call(requestOtp, { body: { payoutId: id } });
  await client.call(approvePayout, {
    params: { id },
    body: { otp: await api.readCode(customer.email, seen) },
  });
  await vi.waitFor(
    async () =>
      expect((await client.call(getPayout, { params: { id } })).status).toBe("completed"),
    {
      timeout: 20_000,
      interval: 50,
    },
  );
  expect(await balanceOf(client, source)).toEqual({
    available: "4",
    pending: "0",
    posted: "4",
  });
});

test("an independent payout of more than its account has makes the whole balance pending, and no more", async () => {
  const { client, source, pay } = await payer();
  await pay("12", "independent");
  expect(await balanceOf(client, source)).toEqual({
    available: "0",
    pending: "10",
    posted: "10",
  });
});

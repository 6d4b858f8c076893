import { beforeAll, expect, test, vi } from "vitest";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
  getStatement,
} from "@/lib/contracts/global-accounts";
import {
  approvePayout,
  cancelPayout,
  createAccountsPayout,
  getPayout,
  listPayoutItems,
  listPayouts,
  retryPayout,
} from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import type { ApiClient } from "@/lib/api-client/client";
import type { BodyInput } from "@/lib/contracts/contract";
import { isFinal } from "@/lib/core/status";
import { verifyLedger } from "@/lib/books/ledger/verify";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { codesOf, fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";

const CHAIN = 31337;
let api: TestApi;
beforeAll(async () => {
  api = await testApi({ worker: true });
});

type Body = BodyInput<typeof createAccountsPayout>;

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) => error,
  );

/** A customer with an account that holds `amount`, and a key that needs no code. */
const payer = async (amount: string, dailyCapUsd = "1000000") => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const source = await client.call(createGlobalAccount, { body: { currency: "USDC" } });
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount });
  await vi.waitFor(
    () =>
      client.call(fundGlobalAccount, {
        params: { id: source.id },
        body: { amount, currency: "USDC" },
      }),
    { timeout: 20_000, interval: 200 },
  );
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd });
  return { customer, source: source.id, key: key.client };
};

const openMany = (client: ApiClient, count: number): Promise<string[]> =>
  Promise.all(
    Array.from(
      { length: count },
      async () => (await client.call(createGlobalAccount, { body: { currency: "USDC" } })).id,
    ),
  );

const pay = (
  client: ApiClient,
  sourceAccountId: string,
  rows: readonly (readonly [string, string])[],
  rest: Partial<Body> = {},
) =>
  client.call(createAccountsPayout, {
    body: {
      sourceAccountId,
      transfers: rows.map(([recipientAccountId, amount]) => ({
        recipientAccountId,
        amount,
        currency: "USDC",
      })),
      ...rest,
    },
  });

const settled = (client: ApiClient, id: string | null) =>
  vi.waitFor(
    async () => {
      const payout = await client.call(getPayout, { params: { id: id ?? "" } });
      if (!isFinal(payout.status)) throw new Error(`The payout is ${payout.status}.`);
      return payout;
    },
    { timeout: 20_000, interval: 50 },
  );

const balance = async (client: ApiClient, id: string): Promise<string> =>
  (await client.call(getGlobalAccount, { params: { id } })).balance.posted;

const approve = async ({ session, email }: Customer, id: string) => {
  const seen = await codesOf(api, { session, email } as Customer);
  await session.client.call(requestOtp, { body: { payoutId: id } });
  const otp = await api.readCode(email, seen);
  return session.client.call(approvePayout, { params: { id }, body: { otp } });
};

const verified = async (): Promise<readonly string[]> =>
  (await verifyLedger(api.services.database.pool)).violations;

test("a payout between accounts is accepted as pending, and pays every row once, all or nothing", async () => {
  const { key, source } = await payer("100");
  const [a = "", b = ""] = await openMany(key, 2);
  const accepted = await pay(key, source, [
    [a, "10"],
    [b, "20.5"],
    [a, "0.5"],
  ]);
  expect(accepted).toMatchObject({
    status: "pending",
    total: "31",
    items: { total: 3, completed: 0 },
  });
  const done = await settled(key, accepted.payoutId);
  expect(done).toMatchObject({
    status: "completed",
    paid: "31",
    items: { completed: 3, failed: 0, pending: 0 },
  });
  expect([await balance(key, a), await balance(key, b), await balance(key, source)]).toEqual([
    "10.5",
    "20.5",
    "69",
  ]);
  const items = await key.call(listPayoutItems, { params: { id: done.payoutId } });
  expect(items.data.map(({ index, status, amount }) => [index, status, amount])).toEqual([
    [0, "completed", "10"],
    [1, "completed", "20.5"],
    [2, "completed", "0.5"],
  ]);
  expect(
    (await key.call(listPayouts, { query: { status: "completed" } })).data[0]?.payoutId,
  ).toBe(done.payoutId);
  expect(await verified()).toEqual([]);
});

test("a payout between accounts with bad rows is refused whole, every bad field of every row named by index", async () => {
  const { key, source } = await payer("5");
  const [a = ""] = await openMany(key, 1);
  const dai = (await key.call(createGlobalAccount, { body: { currency: "DAI" } })).id;
  const { key: otherKey } = await payer("1");
  const [foreign = ""] = await openMany(otherKey, 1);
  const rows = [
    { recipientAccountId: a, amount: "1", currency: "USDC" },
    { recipientAccountId: foreign, amount: "1", currency: "USDC" },
    { recipientAccountId: source, amount: "1.0000001", currency: "USDC" },
    { recipientAccountId: dai, amount: "1", currency: "DAI" },
  ];
  const refused = await refusal(
    key.call(createAccountsPayout, { body: { sourceAccountId: source, transfers: rows } }),
  );
  expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
  const paths = (refused as { details: { path: string; code?: string }[] }).details.map(
    ({ path, code }) => `${path} ${code ?? ""}`,
  );
  expect(paths).toEqual([
    "transfers.1.recipientAccountId not_found",
    "transfers.2.recipientAccountId invalid_request",
    "transfers.2.amount amount_precision",
    "transfers.3.recipientAccountId invalid_request",
    "transfers.3.currency invalid_request",
  ]);
  expect(await refusal(pay(key, source, [[a, "5.000001"]]))).toMatchObject({
    status: 422,
    code: "insufficient_balance",
  });
  // As of a payout to wallets: the fault that all bad rows have gives the answer its code.
  expect(await refusal(pay(key, source, [[a, "1.0000001"]]))).toMatchObject({
    code: "amount_precision",
  });
  expect(await refusal(pay(otherKey, source, [[foreign, "1"]]))).toMatchObject({ status: 404 });
  const many = Array.from({ length: 10_001 }, () => [a, "0.000001"] as const);
  expect(await refusal(pay(key, source, many))).toMatchObject({
    status: 422,
    code: "batch_too_large",
  });
  expect((await key.call(listPayouts)).data).toEqual([]);
  expect(await pay(key, source, [[a, "1"]], { validateOnly: true })).toMatchObject({
    id: null,
    payoutId: null,
    total: "1",
  });
  expect((await key.call(listPayouts)).data).toEqual([]);
});

test("an independent payout between accounts pays what it can, and retry pays the failed rows alone, once", async () => {
  const { key, source, customer } = await payer("10");
  const ids = await openMany(key, 5);
  const rows = ids.map((id) => [id, "3"] as const);
  const first = await settled(
    key,
    (await pay(key, source, rows, { mode: "independent" })).payoutId,
  );
  expect(first).toMatchObject({
    status: "partially_completed",
    paid: "9",
    items: { completed: 3, failed: 2 },
  });
  const failed = await key.call(listPayoutItems, {
    params: { id: first.payoutId },
    query: { status: "failed" },
  });
  expect(failed.data.map(({ failure }) => failure?.code)).toEqual([
    "insufficient_balance",
    "insufficient_balance",
  ]);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "10" });
  await vi.waitFor(
    () =>
      client.call(fundGlobalAccount, {
        params: { id: source },
        body: { amount: "10", currency: "USDC" },
      }),
    { timeout: 20_000, interval: 200 },
  );
  const again = await Promise.all(
    Array.from({ length: 5 }, () =>
      refusal(key.call(retryPayout, { params: { id: first.payoutId } })),
    ),
  );
  expect(again.filter((each) => each === "ok")).toHaveLength(1);
  const { data } = await key.call(listPayouts);
  const retried = await settled(
    key,
    data.find(({ retryOf }) => retryOf === first.payoutId)?.payoutId ?? null,
  );
  expect(retried).toMatchObject({ status: "completed", paid: "6", items: { total: 2 } });
  expect(await Promise.all(ids.map((id) => balance(key, id)))).toEqual([
    "3",
    "3",
    "3",
    "3",
    "3",
  ]);
  expect(await verified()).toEqual([]);
});

test("a payout between accounts of a person waits for a code, which approves exactly it, once", async () => {
  const { customer, source, key } = await payer("10");
  const [a = ""] = await openMany(key, 1);
  const { client } = customer.session;
  const waiting = await pay(client, source, [[a, "4"]]);
  const id = waiting.payoutId ?? "";
  expect(waiting).toMatchObject({ status: "pending", subStatus: "awaiting_approval" });
  expect(
    await refusal(client.call(approvePayout, { params: { id }, body: { otp: "000000" } })),
  ).toMatchObject({
    code: "otp_required",
  });
  await approve(customer, id);
  expect(await settled(client, id)).toMatchObject({ status: "completed" });
  expect(
    await refusal(client.call(approvePayout, { params: { id }, body: { otp: "000000" } })),
  ).toMatchObject({
    code: "invalid_state",
  });
  expect(await balance(key, a)).toBe("4");
  const again = await pay(client, source, [[a, "4"]], { allowDuplicates: true });
  const cancelled = again.payoutId ?? "";
  expect((await client.call(cancelPayout, { params: { id: cancelled } })).status).toBe(
    "cancelled",
  );
  expect(
    await refusal(client.call(requestOtp, { body: { payoutId: cancelled } })),
  ).toMatchObject({
    code: "invalid_state",
  });
  const { session: stranger } = await newCustomer(api);
  const calls = [
    stranger.client.call(getPayout, { params: { id } }),
    stranger.client.call(listPayoutItems, { params: { id } }),
    stranger.client.call(cancelPayout, { params: { id } }),
    stranger.client.call(retryPayout, { params: { id } }),
    stranger.client.call(requestOtp, { body: { payoutId: id } }),
  ];
  for (const refused of await Promise.all(calls.map(refusal)))
    expect(refused).toMatchObject({ status: 404 });
});

test("a payout between accounts above an exempt key's daily cap waits for approval, however many come at once", async () => {
  const { key, source } = await payer("100", "25");
  const [a = ""] = await openMany(key, 1);
  const accepted = await Promise.all(
    Array.from({ length: 6 }, (_, index) => pay(key, source, [[a, `10.${String(index)}`]])),
  );
  const waiting = accepted.filter(({ subStatus }) => subStatus === "awaiting_approval");
  expect(waiting).toHaveLength(4);
});

test("a payout between accounts repeated 50 times at once with one Idempotency-Key pays once", async () => {
  const { source, customer } = await payer("100");
  const { secret } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000",
  });
  const [a = ""] = await openMany(customer.session.client, 1);
  const client = api.client({ "x-api-key": secret, "idempotency-key": crypto.randomUUID() });
  const attempt = async () => {
    const answer = await refusal(pay(client, source, [[a, "2"]]));
    // Without the stored answer, as after 24 hours or after a crash that lost it.
    await api.services.database.prisma.idempotencyKey.deleteMany({});
    return answer;
  };
  await Promise.all(Array.from({ length: 50 }, attempt));
  const { data } = await customer.session.client.call(listPayouts);
  expect(data).toHaveLength(1);
  await settled(customer.session.client, data[0]?.payoutId ?? null);
  expect(await balance(customer.session.client, a)).toBe("2");
});

test("a payout between accounts repeated after it was paid answers with it, although the account could not pay it again", async () => {
  const { source, customer } = await payer("10");
  const { secret } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000",
  });
  const [a = ""] = await openMany(customer.session.client, 1);
  const client = api.client({ "x-api-key": secret, "idempotency-key": crypto.randomUUID() });
  const first = await pay(client, source, [[a, "8"]]);
  await settled(customer.session.client, first.payoutId);
  await api.services.database.prisma.idempotencyKey.deleteMany({});
  expect(await pay(client, source, [[a, "8"]])).toMatchObject({
    payoutId: first.payoutId,
    status: "completed",
  });
  await api.services.database.prisma.idempotencyKey.deleteMany({});
  expect(await refusal(pay(client, source, [[a, "9"]]))).toMatchObject({
    status: 422,
    code: "idempotency_mismatch",
  });
  const spent = await api.services.database.prisma.policySpend.findMany({
    where: { apiKeyId: { not: "" } },
  });
  expect(spent.map(({ spentUsd }) => spentUsd.toString())).toContain("8");
});

test("a payout between accounts by a key with a list of recipients is refused, for a list names addresses and no accounts", async () => {
  const { source, customer } = await payer("5");
  const limited = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000",
    recipients: [customer.treasury],
  });
  const [a = ""] = await openMany(customer.session.client, 1);
  expect(await refusal(pay(limited.client, source, [[a, "1"]]))).toMatchObject({
    code: "recipient_not_allowed",
  });
  const whole = await pay(customer.session.client, source, [[a, "1"]]);
  const tryAgain = limited.client.call(retryPayout, { params: { id: whole.payoutId ?? "" } });
  expect(await refusal(tryAgain)).toMatchObject({ code: "recipient_not_allowed" });
});

test("a payout between accounts whose retry was cancelled can be tried again", async () => {
  const { source, customer, key } = await payer("3");
  const { client } = customer.session;
  const ids = await openMany(key, 2);
  const first = await settled(
    key,
    (
      await pay(
        key,
        source,
        ids.map((id) => [id, "2"] as const),
        { mode: "independent" },
      )
    ).payoutId,
  );
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "5" });
  await vi.waitFor(
    () =>
      client.call(fundGlobalAccount, {
        params: { id: source },
        body: { amount: "5", currency: "USDC" },
      }),
    { timeout: 20_000, interval: 200 },
  );
  const waiting = await client.call(retryPayout, { params: { id: first.payoutId } });
  expect(waiting.subStatus).toBe("awaiting_approval");
  expect(
    await refusal(key.call(retryPayout, { params: { id: first.payoutId } })),
  ).toMatchObject({
    code: "invalid_state",
  });
  const params = { id: waiting.payoutId };
  await client.call(cancelPayout, { params });
  const cancelled = (await client.call(listPayoutItems, { params })).data;
  expect(cancelled).toMatchObject([{ status: "failed", amount: "2" }]);
  expect(
    (await client.call(listPayoutItems, { params, query: { status: "failed" } })).data,
  ).toEqual(cancelled);
  expect(
    (await client.call(listPayoutItems, { params, query: { status: "pending" } })).data,
  ).toEqual([]);
  const again = await key.call(retryPayout, { params: { id: first.payoutId } });
  expect(await settled(key, again.payoutId)).toMatchObject({ status: "completed", paid: "2" });
});

test("a payout between accounts of 10,000 rows is paid whole", async () => {
  const { key, source } = await payer("100");
  const ids = await openMany(key, 20);
  const rows = Array.from(
    { length: 10_000 },
    (_, index) => [ids[index % ids.length] ?? "", "0.01"] as const,
  );
  const done = await settled(
    key,
    (await pay(key, source, rows, { allowDuplicates: true })).payoutId,
  );
  expect(done).toMatchObject({
    status: "completed",
    paid: "100",
    items: { total: 10_000, completed: 10_000 },
  });
  expect(new Set(await Promise.all(ids.map((id) => balance(key, id))))).toEqual(new Set(["5"]));
  expect(await verified()).toEqual([]);
});

test("a payout between accounts of 10,000 rows, each for itself, is 10,000 entries, and the account's statement has them all", async () => {
  const { customer, key, source } = await payer("100");
  const ids = await openMany(key, 2);
  const rows = Array.from(
    { length: 10_000 },
    (_, index) => [ids[index % ids.length] ?? "", "0.01"] as const,
  );
  const { payoutId } = await pay(key, source, rows, {
    mode: "independent",
    allowDuplicates: true,
  });
  const done = await settled(key, payoutId);
  expect(done).toMatchObject({
    status: "completed",
    paid: "100",
    items: { total: 10_000, completed: 10_000 },
  });
  const statement = await key.call(getStatement, { params: { id: source } });
  expect(statement).toMatchObject({ in: "100", out: "100", closing: "0", truncated: true });
  expect(statement.entries).toHaveLength(10_000);
  const csv = await api.fetch(`/global-accounts/${source}/statement/export`, {
    headers: { authorization: `Bearer ${customer.session.accessToken}` },
  });
  const lines = (await csv.text()).trimEnd().split("\r\n");
  // Its head, opening and closing, the funding, and one for each row.
  expect(lines).toHaveLength(10_004);
  expect(lines.at(-1)).toContain(",closing,,0,USDC");
});

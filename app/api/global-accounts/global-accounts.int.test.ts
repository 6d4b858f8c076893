import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test, vi } from "vitest";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
  getStatement,
  listEntries,
  listGlobalAccounts,
  reverseFunding,
} from "@/lib/contracts/global-accounts";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { addSeconds } from "@/lib/core/clock";
import { getReserves, getReservesProof } from "@/lib/contracts/reserves";
import { rootOf } from "@/lib/books/reserves/sum-trees";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { entryFile } from "@/lib/dev/testing/entry";
import {
  codesOf,
  fund,
  newCustomer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";

const [HERE, THERE] = [31337, 31338];
let api: TestApi;
beforeAll(async () => {
  api = await testApi({ worker: true });
});

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) => error,
  );

/**
 * Runs the public verifier.
 * @returns its exit code
 */
const verifier = (proof: string, root: string | undefined): number | null =>
  spawnSync(process.execPath, [entryFile("causeway"), "reserves:verify", "-", root ?? ""], {
    input: proof,
  }).status;

const open = ({ session }: Customer, currency = "USDC", name?: string) =>
  session.client.call(createGlobalAccount, {
    body: { currency, ...(name === undefined ? {} : { name }) },
  });

const fundAccount = ({ session }: Customer, id: string, amount: string, currency = "USDC") =>
  session.client.call(fundGlobalAccount, { params: { id }, body: { amount, currency } });

/** Until the money that the faucet gave lies in a final block. */
const fundWhenFinal = (customer: Customer, id: string, amount: string) =>
  vi.waitFor(() => fundAccount(customer, id, amount), { timeout: 20_000, interval: 200 });

const reservesOf = async ({ session }: Customer, currency = "USDC") => {
  const { data } = await session.client.call(getReserves);
  return data.find((each) => each.currency === currency);
};

test("a global account is opened empty, listed, found by name, and seen by its project alone", async () => {
  const [ada, eve] = [await newCustomer(api), await newCustomer(api)];
  const account = await open(ada, "usdc", "Rent");
  expect(account).toMatchObject({
    currency: "USDC",
    assetId: "usdc",
    name: "Rent",
    status: "active",
    balance: { available: "0", pending: "0", posted: "0" },
  });
  const other = await open(ada, "DAI");
  const { client } = ada.session;
  const ids = async (query: object) =>
    (await client.call(listGlobalAccounts, { query })).data.map(({ id }) => id);
  expect(await ids({})).toEqual([other.id, account.id]);
  expect(await ids({ currency: "USDC" })).toEqual([account.id]);
  expect(await ids({ q: "ren" })).toEqual([account.id]);
  expect(await ids({ q: "100%" })).toEqual([]);
  const page = await client.call(listGlobalAccounts, { query: { limit: 1 } });
  expect(await ids({ limit: 1, cursor: page.nextCursor ?? "" })).toEqual([account.id]);
  for (const id of [account.id, "ga_01980000-0000-7000-8000-000000000000", "ga_1"])
    expect(
      await refusal(eve.session.client.call(getGlobalAccount, { params: { id } })),
    ).toMatchObject({
      status: 404,
    });
  expect(await refusal(open(ada, "NOPE"))).toMatchObject({
    code: "unsupported_token",
    details: [{ path: "currency" }],
  });
});

test("a global account opened or funded twice with one Idempotency-Key is so once, also when the first answer was lost", async () => {
  const customer = await newCustomer(api);
  const headers = {
    authorization: `Bearer ${customer.session.accessToken}`,
    "idempotency-key": crypto.randomUUID(),
  };
  const body = { currency: "USDC", name: "Once" };
  const first = await api.client(headers).call(createGlobalAccount, { body });
  // Deletes the HTTP layer's stored answers; the ledger's own idempotency keys remain.
  await api.services.database.prisma.idempotencyKey.deleteMany({});
  expect((await api.client(headers).call(createGlobalAccount, { body })).id).toBe(first.id);
  await fund(customer.session.client, customer.treasury, {
    chainId: HERE,
    token: "USDC",
    amount: "100",
  });
  await fundWhenFinal(customer, first.id, "1");
  const call = () =>
    api.client(headers).call(fundGlobalAccount, {
      params: { id: first.id },
      body: { amount: "10", currency: "USDC" },
    });
  const funded = await call();
  await api.services.database.prisma.idempotencyKey.deleteMany({});
  expect((await call()).fundingId).toBe(funded.fundingId);
  expect(
    (await customer.session.client.call(getGlobalAccount, { params: { id: first.id } })).balance
      .posted,
  ).toBe("11");
});

test("a funding that was refused for want of reserves is decided anew under the same key", async () => {
  const customer = await newCustomer(api);
  const { session, treasury } = customer;
  const account = await open(customer);
  const sameKey = api.client({
    authorization: `Bearer ${session.accessToken}`,
    "idempotency-key": "payday",
  });
  const body = { amount: "10", currency: "USDC" };
  const fundAgain = () => sameKey.call(fundGlobalAccount, { params: { id: account.id }, body });
  expect(await refusal(fundAgain())).toMatchObject({
    status: 422,
    code: "insufficient_reserves",
  });
  await fund(session.client, treasury, { chainId: HERE, token: "USDC", amount: "100" });
  const { fundingId } = await vi.waitFor(fundAgain, { timeout: 20_000, interval: 200 });
  expect((await fundAgain()).fundingId).toBe(fundingId);
});

test("a global account is funded with what the treasury holds in final blocks over all chains, and not with a unit more", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const [one, two] = [await open(customer), await open(customer)];
  expect(await refusal(fundAccount(customer, one.id, "1"))).toMatchObject({
    status: 422,
    code: "insufficient_reserves",
  });
  await fund(client, customer.treasury, { chainId: HERE, token: "USDC", amount: "60" });
  await fund(client, customer.treasury, { chainId: THERE, token: "USDC", amount: "40" });
  const funding = await fundWhenFinal(customer, one.id, "99.5");
  expect(funding).toMatchObject({
    status: "completed",
    amount: "99.5",
    balance: { available: "99.5" },
  });
  expect(funding.reserves).toEqual({ onChain: "100", committed: "0", liabilities: "99.5" });
  expect(await refusal(fundAccount(customer, two.id, "0.500001"))).toMatchObject({
    code: "insufficient_reserves",
  });
  await fundAccount(customer, two.id, "0.5");
  expect(await reservesOf(customer)).toMatchObject({
    liabilities: "100",
    onChain: "100",
    available: "0",
    covered: true,
  });
  expect(await refusal(fundAccount(customer, one.id, "0.0000001"))).toMatchObject({
    code: "amount_precision",
  });
  expect(await refusal(fundAccount(customer, one.id, "1", "DAI"))).toMatchObject({
    details: [{ path: "currency" }],
  });
});

test("a global account funded by many at once never owes more than the treasury holds", async () => {
  const customer = await newCustomer(api);
  const account = await open(customer);
  await fund(customer.session.client, customer.treasury, {
    chainId: HERE,
    token: "USDC",
    amount: "100",
  });
  await fundWhenFinal(customer, account.id, "10");
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => refusal(fundAccount(customer, account.id, "10"))),
  );
  expect(answers.filter((answer) => answer === "ok")).toHaveLength(9);
  expect(await reservesOf(customer)).toMatchObject({ liabilities: "100", covered: true });
});

test("a global account gives a funding back once, while it has the money, and the treasury may use that again", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const account = await open(customer, "USDC", "Payroll");
  await fund(client, customer.treasury, { chainId: HERE, token: "USDC", amount: "100" });
  const { transactionId } = await fundWhenFinal(customer, account.id, "100");
  const takeBack = (by = client, id = account.id) =>
    by.call(reverseFunding, { params: { id }, body: { transactionId } });
  const eve = await newCustomer(api);
  expect(await refusal(takeBack(eve.session.client))).toMatchObject({ status: 404 });
  const { client: key } = await api.createKey(customer.session);
  expect(await refusal(takeBack(key))).toMatchObject({ status: 403 });
  const payee = await open(customer);
  expect(await refusal(takeBack(client, payee.id))).toMatchObject({ status: 404 });

  const exempt = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" });
  const transfers = [{ recipientAccountId: payee.id, amount: "30", currency: "USDC" }];
  await exempt.client.call(createAccountsPayout, {
    body: { sourceAccountId: account.id, transfers },
  });
  await vi.waitFor(async () => {
    const { balance } = await client.call(getGlobalAccount, { params: { id: payee.id } });
    expect(balance.available).toBe("30");
  }, 20_000);
  expect(await refusal(takeBack())).toMatchObject({ code: "insufficient_balance" });
  const [paid] = (await client.call(listEntries, { params: { id: payee.id } })).data;
  expect(paid).toMatchObject({ counterpartyId: account.id, counterpartyName: "Payroll" });
  const body = { transactionId: paid?.transactionId ?? "" };
  expect(
    await refusal(client.call(reverseFunding, { params: { id: payee.id }, body })),
  ).toMatchObject({
    code: "invalid_state",
  });

  const second = await open(customer);
  expect(await refusal(fundAccount(customer, second.id, "1"))).toMatchObject({
    code: "insufficient_reserves",
  });
  const back = [{ recipientAccountId: account.id, amount: "30", currency: "USDC" }];
  await exempt.client.call(createAccountsPayout, {
    body: { sourceAccountId: payee.id, transfers: back },
  });
  const [first, again] = [await vi.waitFor(() => takeBack(), 20_000), await takeBack()];
  expect(first).toMatchObject({
    reverses: transactionId,
    amount: "100",
    balance: { posted: "0" },
  });
  expect(again).toEqual(first);
  const { data } = await client.call(listEntries, { params: { id: account.id } });
  expect(data.map(({ kind, amount, reversedBy }) => [kind, amount, reversedBy])).toEqual([
    ["reversal", "-100", null],
    ["payout", "30", null],
    ["payout", "-30", null],
    ["funding", "100", first.id],
  ]);
  await fundAccount(customer, second.id, "100");
});

test("a global account keeps its statement: opening, entries with running balance, closing, as JSON and CSV", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const account = await open(customer);
  await fund(client, customer.treasury, { chainId: HERE, token: "USDC", amount: "30" });
  await fundWhenFinal(customer, account.id, "10");
  const between = (await fundAccount(customer, account.id, "5")).createdAt;
  await fundAccount(customer, account.id, "7.25");
  const params = { id: account.id };
  const { data } = await client.call(listEntries, { params });
  expect(
    data.map(({ seq, amount, balanceAfter, kind }) => [seq, amount, balanceAfter, kind]),
  ).toEqual([
    [3, "7.25", "22.25", "funding"],
    [2, "5", "15", "funding"],
    [1, "10", "10", "funding"],
  ]);
  const statement = await client.call(getStatement, { params, query: { from: between } });
  expect(statement).toMatchObject({
    opening: "10",
    closing: "22.25",
    in: "12.25",
    out: "0",
    truncated: false,
  });
  expect(statement.entries.map(({ seq }) => seq)).toEqual([2, 3]);
  const csv = await api.fetch(`/global-accounts/${account.id}/statement/export`, {
    headers: { authorization: `Bearer ${customer.session.accessToken}` },
  });
  expect(csv.headers.get("content-type")).toContain("text/csv");
  const lines = (await csv.text()).trimEnd().split("\r\n");
  expect(lines).toHaveLength(6);
  expect(lines.at(-1)).toContain(",closing,,22.25,USDC");
  const bad = { from: "2026-02-01T00:00:00.000Z", to: "2026-01-01T00:00:00.000Z" };
  expect(await refusal(client.call(getStatement, { params, query: bad }))).toMatchObject({
    details: [{ path: "to" }],
  });
});

describe("what backs accounts", () => {
  const swapOut = async (customer: Customer, amount: string) => {
    const { client } = customer.session;
    const seen = await codesOf(api, customer);
    const quote = await client.call(createQuote, {
      body: {
        from: [{ address: customer.treasury, chainId: HERE, token: "USDC", amount }],
        toChainId: HERE,
        toToken: "DAI",
        toAddress: customer.treasury,
      },
    });
    await client.call(requestOtp, { body: { quoteId: quote.quoteId } });
    await client.call(prepareSwap, {
      body: { quoteId: quote.quoteId, otp: await api.readCode(customer.email, seen) },
    });
    return () => client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  };

  test("does not leave the treasury by a swap", async () => {
    const customer = await newCustomer(api);
    const account = await open(customer);
    await fund(customer.session.client, customer.treasury, {
      chainId: HERE,
      token: "USDC",
      amount: "100",
    });
    await fundWhenFinal(customer, account.id, "70");
    const tooMuch = await swapOut(customer, "31");
    expect(await refusal(tooMuch())).toMatchObject({
      status: 422,
      code: "insufficient_reserves",
    });
    const justRight = await (await swapOut(customer, "30"))();
    expect((await waitUntilFinal(customer.session.client, justRight.operationId)).status).toBe(
      "completed",
    );
    expect(await refusal(fundAccount(customer, account.id, "0.000001"))).toMatchObject({
      code: "insufficient_reserves",
    });
    expect(await reservesOf(customer)).toMatchObject({ liabilities: "70", covered: true });
  });

  test("is promised to an account or to a swap that want it at the same time, never to both", async () => {
    for (let round = 0; round < 4; round += 1) {
      const customer = await newCustomer(api);
      const account = await open(customer);
      await fund(customer.session.client, customer.treasury, {
        chainId: HERE,
        token: "USDC",
        amount: "100",
      });
      await fundWhenFinal(customer, account.id, "1");
      const execute = await swapOut(customer, "60");
      const outcomes = await Promise.all([
        refusal(execute()),
        refusal(fundAccount(customer, account.id, "30")),
        refusal(fundAccount(customer, account.id, "30")),
      ]);
      const taken =
        (outcomes[0] === "ok" ? 60 : 0) +
        outcomes.slice(1).filter((each) => each === "ok").length * 30;
      expect(taken).toBeLessThanOrEqual(99);
      expect(await reservesOf(customer)).toMatchObject({ covered: true });
    }
  });

  test("is shown with a root to which every account's proof leads", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    const accounts = [await open(customer), await open(customer), await open(customer)];
    await fund(client, customer.treasury, { chainId: HERE, token: "USDC", amount: "30" });
    await fundWhenFinal(customer, accounts[0]?.id ?? "", "10");
    await fundAccount(customer, accounts[1]?.id ?? "", "2.5");
    const { clock } = api.services;
    const later = addSeconds(clock.now(), 60);
    const time = vi.spyOn(clock, "now").mockImplementation(() => later);
    try {
      const root = (await reservesOf(customer))?.root;
      expect(root).toMatchObject({ accounts: 3, sumBase: (125n * 10n ** 17n).toString() });
      for (const { id } of accounts) {
        const proof = await client.call(getReservesProof, { params: { id } });
        const { assetId, accountId, salt } = proof;
        const steps = proof.siblings.map(({ hash, sumBase, side }) => ({
          hash,
          sum: BigInt(sumBase),
          side,
        }));
        const reached = rootOf(
          { assetId, accountId, salt, balance: BigInt(proof.balanceBase) },
          steps,
        );
        expect(reached.hash).toBe(root?.hash);
        expect(reached.sum.toString()).toBe(root?.sumBase);
        if (id !== accounts[0]?.id) continue;
        expect(verifier(JSON.stringify(proof), root?.hash)).toBe(0);
        expect(verifier(JSON.stringify({ ...proof, balanceBase: "1" }), root?.hash)).toBe(1);
        expect(verifier(JSON.stringify(proof), `0x${"0".repeat(64)}`)).toBe(1);
      }
    } finally {
      time.mockRestore();
    }
  });
});

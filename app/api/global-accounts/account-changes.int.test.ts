import { beforeAll, expect, test, vi } from "vitest";
import { listAuditLog } from "@/lib/contracts/audit";
import { getMe } from "@/lib/contracts/auth";
import {
  closeGlobalAccount,
  createGlobalAccount,
  freezeGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
  listEntries,
  reverseFunding,
  unfreezeGlobalAccount,
  updateGlobalAccount,
} from "@/lib/contracts/global-accounts";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { createAccountChanges } from "@/lib/books/global-accounts/account-changes";
import { inTransitOf } from "@/lib/money/payouts/service";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { newMember } from "@/lib/dev/testing/voters";

const HERE = 31337;
let api: TestApi;
beforeAll(async () => {
  api = await testApi({ worker: true });
});

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) => error,
  );

const open = ({ session }: Customer, name?: string) =>
  session.client.call(createGlobalAccount, {
    body: { currency: "USDC", ...(name === undefined ? {} : { name }) },
  });

const fundAccount = ({ session }: Customer, id: string, amount: string) =>
  session.client.call(fundGlobalAccount, {
    params: { id },
    body: { amount, currency: "USDC" },
  });

/** A customer with an account that holds this much. */
const withMoney = async (amount: string) => {
  const customer = await newCustomer(api);
  const account = await open(customer, "Payroll");
  await fund(customer.session.client, customer.treasury, {
    chainId: HERE,
    token: "USDC",
    amount: "100",
  });
  // The faucet's gift counts once it lies in a final block.
  await vi.waitFor(() => fundAccount(customer, account.id, amount), {
    timeout: 20_000,
    interval: 200,
  });
  return { customer, id: account.id, client: customer.session.client };
};

const unfreeze = ({ session }: Customer, id: string) =>
  withApproval(session.account, (approval) =>
    session.client.call(unfreezeGlobalAccount, {
      params: { id },
      body: approval ? { approval } : {},
    }),
  );

const actionsOf = async ({ session }: Customer, subject: string): Promise<string[]> => {
  const { data } = await session.client.call(listAuditLog, { query: { subject } });
  return data.map(({ action }) => action).reverse();
};

test("a new name changes nothing else, and is recorded", async () => {
  const customer = await newCustomer(api);
  const account = await open(customer, "Rent");
  const rename = (name: string | null) =>
    customer.session.client.call(updateGlobalAccount, {
      params: { id: account.id },
      body: { name },
    });
  const renamed = await rename(" Rent, Berlin ");
  expect(renamed).toEqual({ ...account, name: "Rent, Berlin", version: renamed.version });
  // The same name again changes nothing, so nothing is recorded.
  expect(await rename("Rent, Berlin")).toEqual(renamed);
  expect(await rename(null)).toMatchObject({ name: null });
  const renames = (await actionsOf(customer, account.id)).filter(
    (action) => action === "global_account.renamed",
  );
  expect(renames).toHaveLength(2);
  expect(await refusal(rename(""))).toMatchObject({ status: 400, details: [{ path: "name" }] });
});

test("nothing goes in or out of a frozen account; an owner unfreezes it with an approval, and everything is recorded", async () => {
  const { customer, id, client } = await withMoney("10");
  const other = await open(customer);
  const freeze = (reason: string) =>
    client.call(freezeGlobalAccount, { params: { id }, body: { reason } });
  expect(await freeze("Documents expired")).toMatchObject({
    status: "frozen",
    statusReason: "Documents expired",
  });
  // The first reason stays.
  expect(await freeze("Another")).toMatchObject({ statusReason: "Documents expired" });
  const pay = (from: string, to: string) =>
    client.call(createAccountsPayout, {
      body: {
        sourceAccountId: from,
        transfers: [{ recipientAccountId: to, amount: "1", currency: "USDC" }],
      },
    });
  expect(await refusal(pay(other.id, id))).toMatchObject({ status: 400 });
  expect(await refusal(fundAccount(customer, id, "1"))).toMatchObject({
    status: 409,
    code: "invalid_state",
  });
  const [funding] = (await client.call(listEntries, { params: { id } })).data;
  const body = { transactionId: funding?.transactionId ?? "" };
  const takeBack = () => client.call(reverseFunding, { params: { id }, body });
  expect(await refusal(takeBack())).toMatchObject({ status: 409, code: "invalid_state" });
  expect((await client.call(getGlobalAccount, { params: { id } })).balance.posted).toBe("10");
  const asked = await refusal(client.call(unfreezeGlobalAccount, { params: { id }, body: {} }));
  expect(asked).toMatchObject({ status: 409, code: "approval_required" });
  expect((asked as Error).message).toContain("Documents expired");
  expect((await client.call(getGlobalAccount, { params: { id } })).status).toBe("frozen");
  expect(await unfreeze(customer, id)).toMatchObject({ status: "active", statusReason: null });
  await fundAccount(customer, id, "1");
  expect(await takeBack()).toMatchObject({ balance: { posted: "1" } });
  expect((await actionsOf(customer, id)).filter((action) => /frozen$/.test(action))).toEqual([
    "global_account.frozen",
    "global_account.unfrozen",
  ]);
});

test("what is recorded of a change is what the account became, also when somebody else changed it meanwhile", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const { id } = await open(customer, "Rent");
  const operator = await newMember(
    api,
    (await client.call(getMe)).projects[0]?.id ?? "",
    "operator",
  );
  const { services } = api;
  /** The account as it was before somebody freezes it. */
  const get: typeof services.globalAccounts.get = async (...args) => {
    const own = await services.globalAccounts.get(...args);
    await client.call(freezeGlobalAccount, { params: { id }, body: { reason: "Audit" } });
    return own;
  };
  const clock = { now: () => new Date() };
  await createAccountChanges({
    ...services,
    accounts: { get },
    inTransit: inTransitOf,
    clock,
  }).rename(operator.actor, id, "Berlin");
  const { data } = await client.call(listAuditLog, { query: { subject: id } });
  const renamed = data.find(({ action }) => action === "global_account.renamed");
  expect(renamed).toMatchObject({
    data: { name: "Berlin", status: "frozen", reason: "Audit" },
  });
});

test("an operator freezes and closes, and does not unfreeze", async () => {
  const customer = await newCustomer(api);
  const { id } = await open(customer);
  const [project] = (await customer.session.client.call(getMe)).projects;
  const projectId = project?.id ?? "";
  const operator = await newMember(api, projectId, "operator");
  const client = operator.client;
  expect(
    await client.call(freezeGlobalAccount, { params: { id }, body: { reason: "Audit" } }),
  ).toMatchObject({
    status: "frozen",
  });
  expect(
    await refusal(client.call(unfreezeGlobalAccount, { params: { id }, body: {} })),
  ).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  expect(await client.call(closeGlobalAccount, { params: { id }, body: {} })).toMatchObject({
    status: "closed",
  });
});

test("only an empty account is closed, for ever, while money that comes in at the same moment is not lost", async () => {
  const { customer, id, client } = await withMoney("10");
  const close = (account: string) =>
    client.call(closeGlobalAccount, { params: { id: account }, body: {} });
  expect(await refusal(close(id))).toMatchObject({ status: 409, code: "invalid_state" });
  const race = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const account = await open(customer);
      const [closing, funding] = await Promise.all([
        refusal(close(account.id)),
        refusal(fundAccount(customer, account.id, "1")),
      ]);
      return { account: account.id, closed: closing === "ok", funded: funding === "ok" };
    }),
  );
  for (const { account, closed, funded } of race) {
    expect([closed, funded].filter(Boolean), account).toHaveLength(1);
    const { status, balance } = await client.call(getGlobalAccount, {
      params: { id: account },
    });
    expect([status, balance.posted]).toEqual(closed ? ["closed", "0"] : ["active", "1"]);
  }
  const empty = await open(customer);
  expect(await close(empty.id)).toMatchObject({ status: "closed" });
  expect(await close(empty.id)).toMatchObject({ status: "closed" });
  expect(await refusal(fundAccount(customer, empty.id, "1"))).toMatchObject({
    code: "invalid_state",
  });
  const freeze = client.call(freezeGlobalAccount, {
    params: { id: empty.id },
    body: { reason: "Audit" },
  });
  expect(await refusal(freeze)).toMatchObject({ code: "invalid_state" });
  expect(await refusal(unfreeze(customer, empty.id))).toMatchObject({ code: "invalid_state" });
});

test("the accounts of another project are 404", async () => {
  const [ada, eve] = [await newCustomer(api), await newCustomer(api)];
  const params = { id: (await open(ada)).id };
  const { client } = eve.session;
  const works = [
    client.call(updateGlobalAccount, { params, body: { name: "Mine" } }),
    client.call(freezeGlobalAccount, { params, body: { reason: "Mine" } }),
    client.call(unfreezeGlobalAccount, { params, body: {} }),
    client.call(closeGlobalAccount, { params, body: {} }),
  ].map(refusal);
  for (const answer of await Promise.all(works))
    expect(answer).toMatchObject({ status: 404, code: "not_found" });
});

test("an entry names the payout that caused it, and a reversal the transaction that it takes back", async () => {
  const { customer, id, client } = await withMoney("10");
  const [funding] = (await client.call(listEntries, { params: { id } })).data;
  expect(funding).toMatchObject({ kind: "funding", payoutId: null, reverses: null });
  const payee = await open(customer);
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "100" });
  const transfers = [{ recipientAccountId: payee.id, amount: "4", currency: "USDC" }];
  const { payoutId } = await key.client.call(createAccountsPayout, {
    body: { sourceAccountId: id, transfers },
  });
  await vi.waitFor(
    async () => {
      const { data } = await client.call(listEntries, { params: { id: payee.id } });
      expect(data).toMatchObject([{ kind: "payout", amount: "4", payoutId }]);
    },
    { timeout: 30_000, interval: 100 },
  );
});

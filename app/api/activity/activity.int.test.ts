import { beforeAll, expect, test, vi } from "vitest";
import { exportActivity, listActivity } from "@/lib/contracts/activity";
import { putAnnotation } from "@/lib/contracts/annotations";
import type { QueryInput } from "@/lib/contracts/contract";
import {
  createGlobalAccount,
  fundGlobalAccount,
  reverseFunding,
} from "@/lib/contracts/global-accounts";
import { cancelOperation } from "@/lib/contracts/operations";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { idOf, pay, row } from "@/lib/dev/testing/payout-requests";
import { storedPrivateTransfer } from "@/lib/dev/testing/private-transfer";

const HERE = 31337;
const [payee, second] = [testAccount().address, testAccount().address];
let api: TestApi;
let ada: Customer;
/** Ids in the order in which they were made. */
const made = {
  transfer: "",
  funding: "",
  reversal: "",
  toAccount: "",
  sole: "",
  batch: "",
  cancelled: "",
};
const accounts = { rent: "", shop: "" };

const transferOf = async (
  { session, treasuryId }: Customer,
  toToken = "USDC",
): Promise<string> => {
  const what = {
    fromChainId: HERE,
    toChainId: HERE,
    fromToken: "USDC",
    toToken,
    amount: "2.5",
  };
  const body = { fromWalletId: treasuryId, ...what, recipient: payee };
  return (await session.client.call(swapAndTransfer, { body })).operationId;
};

beforeAll(async () => {
  api = await testApi({ worker: true });
  ada = await newCustomer(api);
  const { client } = ada.session;
  await fund(client, ada.treasury, { chainId: HERE, token: "USDC", amount: "1000" });
  made.transfer = await transferOf(ada);
  const open = async (name: string) =>
    (await client.call(createGlobalAccount, { body: { currency: "USDC", name } })).id;
  accounts.rent = await open("Rent");
  accounts.shop = await open("Shop");
  const params = { id: accounts.rent };
  // Until the money of the faucet lies in a final block.
  const funded = (amount: string) =>
    vi.waitFor(
      () => client.call(fundGlobalAccount, { params, body: { amount, currency: "USDC" } }),
      {
        timeout: 20_000,
        interval: 200,
      },
    );
  made.funding = (await funded("50")).transactionId;
  const { transactionId } = await funded("7");
  made.reversal = (await client.call(reverseFunding, { params, body: { transactionId } })).id;
  const transfers = [{ recipientAccountId: accounts.shop, amount: "5", currency: "USDC" }];
  const between = await client.call(createAccountsPayout, {
    body: { sourceAccountId: accounts.rent, transfers },
  });
  made.toAccount = idOf(between);
  made.sole = idOf(await pay(client, [row(payee, "3")], { reference: "Invoice 7" }));
  made.batch = idOf(await pay(client, [row(payee, "1"), row(second, "2")]));
  made.cancelled = await transferOf(ada, "WETH");
  await client.call(cancelOperation, { params: { id: made.cancelled } });
}, 180_000);

const list = async (query: QueryInput<typeof listActivity> = {}, client = ada.session.client) =>
  (await client.call(listActivity, { query })).data;
const ids = async (...input: Parameters<typeof list>) =>
  (await list(...input)).map(({ id }) => id);

test("operations, payouts, fundings and their reversals are one list, newest first, each with what a row shows", async () => {
  const rows = await list();
  const { transfer, funding, reversal, toAccount, sole, batch, cancelled } = made;
  const shown = rows.filter(({ id }) => Object.values(made).includes(id));
  expect(shown.map(({ id }) => id)).toEqual([
    cancelled,
    batch,
    sole,
    toAccount,
    reversal,
    funding,
    transfer,
  ]);
  expect(rows).toHaveLength(shown.length + 1);
  const of = (wanted: string) => rows.find(({ id }) => id === wanted);
  const usdc = (amount: string, chainId: number | null) => ({
    amount,
    token: { symbol: "USDC", chainId },
  });
  const rent = { type: "account", accountId: accounts.rent, name: "Rent" };
  expect(of(transfer)).toMatchObject({
    ...{
      kind: "swap_and_transfer",
      status: "pending",
      subStatus: "awaiting_approval",
      usd: "2.5",
      source: null,
    },
    sent: [usdc("2.5", HERE)],
    counterparty: { type: "address", address: payee },
  });
  expect(of(funding)).toMatchObject({
    ...{
      kind: "funding",
      status: "completed",
      usd: "50",
      sent: [usdc("50", null)],
      source: null,
      counterparty: rent,
    },
  });
  expect(of(reversal)).toMatchObject({
    kind: "funding_reversal",
    usd: "7",
    source: rent,
    counterparty: null,
  });
  expect(of(toAccount)).toMatchObject({
    ...{
      kind: "payout_to_accounts",
      sent: [usdc("5", null)],
      received: usdc("0", null),
      source: rent,
    },
    counterparty: { type: "account", accountId: accounts.shop, name: "Shop" },
  });
  expect(of(transfer)?.reference).toBeNull();
  expect(of(sole)).toMatchObject({
    kind: "payout_to_wallets",
    reference: "Invoice 7",
    counterparty: { type: "address", address: payee },
  });
  expect(of(batch)).toMatchObject({
    usd: "3",
    sent: [usdc("3", HERE)],
    counterparty: { type: "recipients", count: 2 },
  });
});

test("pages of any size hold the whole list once", async () => {
  const all = await ids({ limit: 100 });
  const read: string[] = [];
  for (let cursor: string | null = null, turn = 0; turn < 20; turn += 1) {
    const page: { data: { id: string }[]; nextCursor: string | null } =
      await ada.session.client.call(listActivity, {
        query: { limit: 2, ...(cursor === null ? {} : { cursor }) },
      });
    read.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  expect(read).toEqual(all);
});

test("filters narrow every source: kind, status, chain, wallet, days and tag", async () => {
  const { transfer, funding, reversal, toAccount, sole, batch, cancelled } = made;
  expect(await ids({ kind: "funding,payout_to_accounts" })).toEqual([
    toAccount,
    ...(await ids({ kind: "funding" })),
  ]);
  expect(await ids({ kind: "funding_reversal" })).toEqual([reversal]);
  expect(await ids({ status: "cancelled" })).toEqual([cancelled]);
  expect(await ids({ status: "completed" })).toContain(funding);
  expect(await ids({ status: "pending" })).toEqual([batch, sole, toAccount, transfer]);
  expect(await ids({ chainId: String(HERE) })).toEqual([cancelled, batch, sole, transfer]);
  expect(await ids({ chainId: "31338" })).toEqual([]);
  expect(await ids({ walletId: ada.treasuryId, kind: "payout_to_wallets" })).toEqual([
    batch,
    sole,
  ]);
  const at = (await list()).find(({ id }) => id === toAccount)?.createdAt ?? "";
  expect(await ids({ from: at })).toEqual([cancelled, batch, sole, toAccount]);
  expect(await ids({ to: at, kind: "payout_to_accounts,payout_to_wallets" })).toEqual([]);
  await ada.session.client.call(putAnnotation, {
    params: { id: batch },
    body: { memo: "Wages May", tags: ["Payroll"] },
  });
  expect(await ids({ tag: "payroll" })).toEqual([batch]);
  expect((await list({ tag: "payroll" }))[0]).toMatchObject({
    memo: "Wages May",
    tags: ["Payroll"],
  });
  expect(await ids({ q: "wages" })).toEqual([batch]);
});

test("a search finds ids, recipients of rows, references, account names and tokens", async () => {
  const { transfer, funding, toAccount, sole, batch, cancelled } = made;
  for (const id of Object.values(made)) expect(await ids({ q: id })).toEqual([id]);
  expect(await ids({ q: payee })).toEqual([cancelled, batch, sole, transfer]);
  expect(await ids({ q: second.toLowerCase() })).toEqual([batch]);
  expect(await ids({ q: "invoice" })).toEqual([sole]);
  expect(await ids({ q: "rent" })).toContain(funding);
  expect(await ids({ q: accounts.rent })).toContain(toAccount);
  expect(await ids({ q: "usdc" })).toEqual(await ids({}));
  for (const q of ["%", "'; DROP TABLE payout; --", `0x${"a".repeat(64)}`])
    expect(await ids({ q })).toEqual([]);
});

test("the file has a line for each amount, and the worth of a movement once", async () => {
  const csv = await ada.session.client.call(exportActivity, {
    query: { kind: "payout_to_wallets" },
  });
  const [head = "", ...lines] = csv.trim().split("\r\n");
  expect(head.split(",").slice(0, 2)).toEqual(["id", "kind"]);
  expect(lines.map((line) => line.split(",")[0])).toEqual([made.batch, made.sole]);
  expect(lines[1]).toContain(`3,USDC,${String(HERE)}`);
  const at = head.split(",").indexOf("title");
  expect(lines.map((line) => line.split(",")[at])).toEqual([
    "3.00 USDC to 2 recipients",
    "Invoice 7",
  ]);
});

test("a cursor that no list gave is refused, and another project sees nothing of it", async () => {
  await expect(list({ cursor: "op_1" })).rejects.toMatchObject({
    status: 400,
    code: "invalid_cursor",
  });
  const eve = await newCustomer(api);
  for (const q of [undefined, payee, ...Object.values(made)])
    expect(await ids(q === undefined ? {} : { q }, eve.session.client)).toEqual([]);
});

test("a key sees the kinds that it has scopes for; private movements need the scope for them", async () => {
  const operationId = await transferOf(ada);
  const { prisma } = api.services.database;
  await prisma.operation.update({
    where: { id: operationId },
    data: { kind: "private_transfer" },
  });
  const walletId = "pw_01980000-0000-7000-8000-000000000000";
  const transferId = await storedPrivateTransfer(api.services, { operationId, walletId });
  const seenBy = async (
    ...scopes: ("operations:read" | "payouts:read" | "accounts:read" | "privacy:read")[]
  ) =>
    new Set(
      (await list({}, (await api.createKey(ada.session, { scopes })).client)).map(
        ({ kind }) => kind,
      ),
    );
  const operations = ["swap_and_transfer"];
  expect([...(await seenBy("operations:read"))]).toEqual(operations);
  const payouts = await seenBy("operations:read", "payouts:read");
  expect([...payouts].sort()).toEqual(
    [...operations, "payout_to_accounts", "payout_to_wallets"].sort(),
  );
  const books = await seenBy("operations:read", "accounts:read");
  expect([...books].sort()).toEqual([...operations, "funding", "funding_reversal"].sort());
  expect([...(await seenBy("operations:read", "privacy:read"))].sort()).toEqual(
    [...operations, "private_transfer"].sort(),
  );
  expect((await list({ kind: "private_transfer" }))[0]).toMatchObject({
    id: operationId,
    transferId,
  });
});

test("fundings are read along an index of their own, which payments between accounts do not grow", async () => {
  const { pool } = api.services.database;
  const names = await pool.query<{ indexdef: string }>(
    "SELECT indexdef FROM pg_indexes WHERE indexname = 'ledger_transaction_funding_idx'",
  );
  expect(names.rows[0]?.indexdef).toContain("(project_id, id DESC) WHERE");
});

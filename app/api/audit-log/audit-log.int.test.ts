import { beforeAll, expect, test, vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import { exportAuditLog, listAuditLog } from "@/lib/contracts/audit";
import { getMe } from "@/lib/contracts/auth";
import {
  createGlobalAccount,
  fundGlobalAccount,
  reverseFunding,
  updateGlobalAccount,
} from "@/lib/contracts/global-accounts";
import { approveOperation, cancelOperation } from "@/lib/contracts/operations";
import { createPayoutSchedule } from "@/lib/contracts/payout-schedules";
import {
  approvePayout,
  cancelPayout,
  createAccountsPayout,
  getPayout,
  retryPayout,
} from "@/lib/contracts/payouts";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { cancelTransfer, createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { isFinal } from "@/lib/core/status";
import { recordAudit } from "@/lib/news/audit/service";
import { testApi, type TestApi, type TestApiKey } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { codesOf, fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";

const CHAIN = 31337;
const ADDRESS = "203.0.113.77";
let api: TestApi;
let customer: Customer;
let userId: string;
/** The person, calling from an address that the server sees. */
const AGENT = "Payroll/2.1 (test)";
let person: ApiClient;
let key: TestApiKey;
beforeAll(async () => {
  api = await testApi({ worker: true });
  customer = await newCustomer(api);
  const { accessToken } = customer.session;
  ({ userId } = await api.services.auth.verifyAccessToken(accessToken));
  person = api.client({
    authorization: `Bearer ${accessToken}`,
    "x-forwarded-for": ADDRESS,
    "user-agent": AGENT,
  });
  key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "15" });
  await fund(person, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "500" });
});

type Subject =
  | { quoteId: string }
  | { operationId: string }
  | { payoutId: string }
  | { transferId: string };

/** Asks for the code as this caller. @returns the code and its id */
const ask = async (
  client: ApiClient,
  body: Subject,
): Promise<{ otp: string; otpId: string }> => {
  const seen = await codesOf(api, customer);
  const { otpId } = await client.call(requestOtp, { body });
  return { otp: await api.readCode(customer.email, seen), otpId };
};

/** The rows of the audit log about a subject, newest first. */
const logOf = async (subject: string) =>
  (await person.call(listAuditLog, { query: { subject } })).data;

const byPerson = () => ({
  actor: userId,
  clientAddress: ADDRESS,
  requestId: expect.stringMatching(/^req_/) as string,
});
const byKey = () => ({
  actor: key.id,
  clientAddress: null,
  requestId: expect.stringMatching(/^req_/) as string,
});

const quoteBody = () => ({
  from: [{ address: customer.treasury, chainId: CHAIN, token: "USDC", amount: "5" }],
  toChainId: CHAIN,
  toToken: "USDC",
  toAddress: testAccount().address,
});
const transferBody = () => ({
  fromWalletId: customer.treasuryId,
  fromChainId: CHAIN,
  toChainId: CHAIN,
  token: "USDC",
  amount: "5",
  toAddress: testAccount().address,
});
const atOnceBody = (amount: string) => ({
  fromWalletId: customer.treasuryId,
  fromChainId: CHAIN,
  toChainId: CHAIN,
  fromToken: "USDC",
  toToken: "WETH",
  amount,
  recipient: testAccount().address,
});

test("the audit log records a quote and a transfer that a code approved, and their execution", async () => {
  const { quoteId } = await person.call(createQuote, { body: quoteBody() });
  const quoteCode = await ask(person, { quoteId });
  await person.call(prepareSwap, { body: { quoteId, otp: quoteCode.otp } });
  const { operationId } = await person.call(executeSwap, { body: { quoteId } });
  const codeId = quoteCode.otpId;
  expect(await logOf(quoteId)).toMatchObject([
    {
      ...byPerson(),
      action: "quote.approved",
      data: { means: "code", codeId, userAgent: AGENT },
    },
  ]);
  expect(await logOf(operationId)).toMatchObject([
    {
      ...byPerson(),
      action: "operation.executed",
      data: { means: "code", codeId, approvedBy: userId, quoteId },
    },
  ]);
  const { transferId } = await person.call(createTransfer, { body: transferBody() });
  const transferCode = await ask(person, { transferId });
  await person.call(prepareSwap, { body: { transferId, otp: transferCode.otp } });
  expect(await logOf(transferId)).toMatchObject([
    {
      ...byPerson(),
      ...{ action: "transfer.approved", data: { codeId: transferCode.otpId } },
      subjectName: expect.stringMatching(/^Transfer of .* USDC$/) as string,
    },
  ]);
});

test("the audit log records an operation within a key's policy, and one of the key's that a person approved with a code", async () => {
  const within = await key.client.call(swapAndTransfer, { body: atOnceBody("5") });
  expect(within.subStatus).toBe("prepared");
  expect(await logOf(within.operationId)).toMatchObject([
    {
      ...byKey(),
      action: "operation.executed",
      data: { means: "policy", kind: "swap_and_transfer" },
    },
  ]);
  const { operationId } = await key.client.call(swapAndTransfer, { body: atOnceBody("40") });
  const { otp, otpId } = await ask(person, { operationId });
  await person.call(approveOperation, { params: { id: operationId }, body: { otp } });
  expect(await logOf(operationId)).toMatchObject([
    { ...byPerson(), action: "operation.approved", data: { means: "code", codeId: otpId } },
    { ...byKey(), action: "operation.requested" },
  ]);
});

test("an entry names who acted and what it was done to, and only objects of the project have a name in it", async () => {
  const { id } = await person.call(createGlobalAccount, {
    body: { currency: "USDC", name: "Wages" },
  });
  await person.call(updateGlobalAccount, { params: { id }, body: { name: "Payroll" } });
  expect(await logOf(id)).toMatchObject([
    { actor: userId, actorName: customer.email, subjectName: "Payroll" },
  ]);
  const [made] = await logOf(key.id);
  expect(made).toMatchObject({
    action: "api_key.created",
    subjectName: expect.stringMatching(/./) as string,
  });
  const { operationId } = await key.client.call(swapAndTransfer, { body: atOnceBody("40") });
  const subjectName = "Swap and transfer of 40.00 USDC";
  expect(await logOf(operationId)).toMatchObject([
    { actor: key.id, actorName: made?.subjectName, subjectName },
  ]);
  const { id: scheduleId } = await person.call(createPayoutSchedule, {
    body: {
      chainId: CHAIN,
      transfers: ["1", "2"].map((amount) => ({
        address: testAccount().address,
        amount,
        token: "USDC",
      })),
      startsAt: new Date(Date.now() + 3_600_000).toISOString(),
    },
  });
  expect(await logOf(scheduleId)).toMatchObject([
    { subjectName: "Scheduled payout to 2 wallets" },
  ]);
  // The same ids in the log of another project name nothing of this one.
  const stranger = await api.signIn();
  const theirs = (await stranger.client.call(getMe)).projects[0]?.id ?? "";
  for (const subject of [id, operationId, scheduleId])
    await api.services.database.transaction((tx) =>
      recordAudit(tx, {
        ...{
          projectId: theirs,
          actor: "system",
          action: "test.recorded",
          subject,
          request: null,
          at: new Date(),
        },
      }),
    );
  const { data } = await stranger.client.call(listAuditLog, {
    query: { action: "test.recorded" },
  });
  expect(data.map((entry) => entry.subjectName)).toEqual([null, null, null]);
});

test("the audit log records a cancelled operation or transfer once, however often the cancellation is requested", async () => {
  const { operationId } = await key.client.call(swapAndTransfer, { body: atOnceBody("40") });
  const cancels = await Promise.all(
    Array.from({ length: 5 }, () =>
      person.call(cancelOperation, { params: { id: operationId } }),
    ),
  );
  expect(cancels.map(({ status }) => status)).toEqual(Array(5).fill("cancelled"));
  expect(await logOf(operationId)).toMatchObject([
    { ...byPerson(), action: "operation.cancelled" },
    { ...byKey(), action: "operation.requested" },
  ]);
  const { transferId } = await person.call(createTransfer, { body: transferBody() });
  for (let time = 0; time < 2; time += 1)
    await key.client.call(cancelTransfer, { params: { id: transferId } });
  expect(await logOf(transferId)).toMatchObject([{ ...byKey(), action: "transfer.cancelled" }]);
});

test("the audit log records fundings and reversals, and payouts that were created, approved, cancelled and retried", async () => {
  const open = async () =>
    (await person.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [source, recipient] = [await open(), await open()];
  const fundSource = (amount: string, idempotencyKey?: string) =>
    person.call(fundGlobalAccount, {
      params: { id: source },
      body: { amount, currency: "USDC" },
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    });
  const { transactionId } = await vi.waitFor(() => fundSource("20"), {
    timeout: 20_000,
    interval: 200,
  });
  await person.call(reverseFunding, { params: { id: source }, body: { transactionId } });
  await person.call(reverseFunding, { params: { id: source }, body: { transactionId } });
  await fundSource("10");
  expect(await logOf(source)).toMatchObject([
    { ...byPerson(), action: "global_account.funded", data: { amount: "10" } },
    {
      ...byPerson(),
      action: "global_account.funding_reversed",
      data: { amount: "20", transactionId },
    },
    { ...byPerson(), action: "global_account.funded", data: { amount: "20", transactionId } },
  ]);

  const pay = async (
    client: ApiClient,
    amount: string,
    mode: "atomic" | "independent" = "atomic",
  ) => {
    const { payoutId } = await client.call(createAccountsPayout, {
      body: {
        sourceAccountId: source,
        mode,
        transfers: [{ recipientAccountId: recipient, amount, currency: "USDC" }],
      },
    });
    return payoutId ?? "";
  };
  const cancelled = await pay(person, "1");
  await key.client.call(cancelPayout, { params: { id: cancelled } });
  expect(await logOf(cancelled)).toMatchObject([
    { ...byKey(), action: "payout.cancelled" },
    {
      ...byPerson(),
      action: "payout.created",
      data: { status: "awaiting_approval", total: "1", items: 1 },
    },
  ]);
  // More than the account holds: each row is refused when its turn comes.
  const failed = await pay(person, "50", "independent");
  const { otp, otpId } = await ask(person, { payoutId: failed });
  await person.call(approvePayout, { params: { id: failed }, body: { otp } });
  expect((await logOf(failed))[0]).toMatchObject({
    ...byPerson(),
    action: "payout.approved",
    data: { means: "code", codeId: otpId },
  });
  await vi.waitFor(
    async () =>
      expect(isFinal((await person.call(getPayout, { params: { id: failed } })).status)).toBe(
        true,
      ),
    { timeout: 20_000, interval: 50 },
  );
  await fundSource("45");
  const again = await person.call(retryPayout, { params: { id: failed } });
  expect(await logOf(again.payoutId)).toMatchObject([
    { ...byPerson(), action: "payout.retried", data: { retryOf: failed } },
  ]);
  const paid = await pay(key.client, "1");
  expect(await logOf(paid)).toMatchObject([
    { ...byKey(), action: "payout.created", data: { means: "policy" } },
  ]);
});

test("every row about what the person did names its request", async () => {
  const rows = await api.services.database.prisma.auditEvent.findMany({
    where: { actor: userId },
  });
  const without = rows.filter(({ requestId }) => requestId === null);
  expect(rows.length).toBeGreaterThan(5);
  expect(without.map(({ action }) => action)).toEqual([]);
});

test("a refused request leaves no row in the audit log", async () => {
  const { quoteId } = await person.call(createQuote, { body: quoteBody() });
  const { otp } = await ask(person, { quoteId });
  const wrong = otp === "000000" ? "000001" : "000000";
  await expect(
    person.call(prepareSwap, { body: { quoteId, otp: wrong } }),
  ).rejects.toMatchObject({
    status: 422,
  });
  expect(await logOf(quoteId)).toEqual([]);
});

test("GET /audit-log is newest first, page by page, by action, and shows nothing of another project", async () => {
  const all = (await person.call(listAuditLog, { query: { limit: 100 } })).data;
  expect(all.map(({ id }) => id)).toEqual(
    all
      .map(({ id }) => id)
      .sort()
      .reverse(),
  );
  const paged: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await person.call(listAuditLog, {
      query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) },
    });
    paged.push(...page.data.map(({ id }) => id));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(paged).toEqual(all.map(({ id }) => id));
  const { data: keys } = await person.call(listAuditLog, {
    query: { action: "api_key.created" },
  });
  expect(keys.map(({ subject }) => subject)).toEqual([key.id]);
  expect(all.filter(({ action }) => action === "api_key.created").map(({ id }) => id)).toEqual([
    keys[0]?.id,
  ]);

  const stranger = await api.signIn();
  const theirs = (await stranger.client.call(listAuditLog, { query: { limit: 100 } })).data;
  expect(theirs.length).toBeGreaterThan(0);
  const ours = new Set(all.map(({ id }) => id));
  expect(theirs.filter(({ id }) => ours.has(id))).toEqual([]);
  expect(
    (await stranger.client.call(listAuditLog, { query: { subject: key.id } })).data,
  ).toEqual([]);
  const { nextCursor } = await person.call(listAuditLog, { query: { limit: 1 } });
  await expect(
    stranger.client.call(listAuditLog, { query: { limit: 1, cursor: nextCursor ?? "" } }),
  ).rejects.toMatchObject({ status: 400, code: "invalid_cursor" });
});

test("GET /audit-log finds by actor, by time and by a part of any field, and its CSV holds the same entries with their hashes", async () => {
  const find = async (query: Partial<Record<"actor" | "from" | "to" | "text", string>>) =>
    (await person.call(listAuditLog, { query: { limit: 100, ...query } })).data;
  // An entry changes once more when it is linked.
  const all = await vi.waitFor(
    async () => {
      const entries = await find({});
      expect(entries.map(({ seq }) => seq)).not.toContain(null);
      return entries;
    },
    { timeout: 20_000, interval: 100 },
  );
  const byTheKey = await find({ actor: key.id });
  expect(byTheKey.length).toBeGreaterThan(0);
  expect(byTheKey).toEqual(all.filter(({ actor }) => actor === key.id));
  const middle = all[Math.floor(all.length / 2)]?.createdAt ?? "";
  expect(await find({ from: middle })).toEqual(
    all.filter(({ createdAt }) => createdAt >= middle),
  );
  expect(await find({ to: middle })).toEqual(all.filter(({ createdAt }) => createdAt < middle));
  expect(new Set((await find({ text: "KEY.CREATED" })).map(({ action }) => action))).toEqual(
    new Set(["api_key.created"]),
  );
  expect(await find({ text: key.id.slice(4, 20) })).toEqual(await find({ text: key.id }));
  // Signs of a pattern stand for themselves.
  expect(await find({ text: "%" })).toEqual([]);

  const linked = await find({ text: "api_key" });
  const csv = await person.call(exportAuditLog, { query: { text: "api_key" } });
  const [, ...lines] = csv.trimEnd().split("\r\n");
  expect(lines).toHaveLength(linked.length);
  for (const [index, { id, seq, hash }] of linked.entries()) {
    expect(lines[index]?.startsWith(`${id},`)).toBe(true);
    expect(lines[index]?.endsWith(`,${String(seq)},${hash ?? ""}`)).toBe(true);
  }
  await expect(key.client.call(exportAuditLog, {})).rejects.toMatchObject({ status: 403 });
});

test("GET /audit-log is for owners and admins: not for API keys, operators and viewers", async () => {
  await expect(key.client.call(listAuditLog, {})).rejects.toMatchObject({
    status: 403,
    code: "forbidden",
  });
  const session = await api.signIn();
  const { userId: member } = await api.services.auth.verifyAccessToken(session.accessToken);
  for (const role of ["admin", "operator", "viewer"]) {
    await api.services.database.prisma.membership.updateMany({
      where: { userId: member },
      data: { role },
    });
    await vi.waitFor(
      async () => {
        const status = await session.client.call(listAuditLog, {}).then(
          () => 200,
          (error: unknown) => (error as { status: number }).status,
        );
        expect([role, status]).toEqual([role, role === "admin" ? 200 : 403]);
      },
      { timeout: 10_000, interval: 50 },
    );
  }
});

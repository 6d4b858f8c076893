/**
 * A code is mailed only to a caller who can use it: every subject of a code × every kind of caller,
 * and then the caller's next step.
 */
import { beforeAll, expect, test } from "vitest";
import { updateMe } from "@/lib/contracts/auth";
import { SCOPES, type BodyInput, type Scope } from "@/lib/contracts/contract";
import { approveDecision, requestDecisionCode } from "@/lib/contracts/decisions";
import { createGlobalAccount } from "@/lib/contracts/global-accounts";
import { approveOperation, retryOperation } from "@/lib/contracts/operations";
import { approvePayoutSchedule, createPayoutSchedule } from "@/lib/contracts/payout-schedules";
import { approvePayout, createAccountsPayout } from "@/lib/contracts/payouts";
import { createPrivacyWallet, privateTransfer } from "@/lib/contracts/privacy";
import { preparePrivateSwap, quotePrivateSwap } from "@/lib/contracts/privacy-swap";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import {
  createWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import { ApiError, type ApiClient } from "@/lib/api-client/client";
import { ROLES } from "@/lib/core/actor";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { privateMoney } from "@/lib/dev/testing/private-money";
import { actorOf, newMember } from "@/lib/dev/testing/voters";

const CHAIN = 31337;
/** Nothing is carried out: what waits goes on to wait. */
const money = await privateMoney({}, { devnet: true });
const { api, services } = money;
const { prisma } = services.database;
const WRONG = "000000";

const KEYS = SCOPES.filter((scope) => scope.endsWith(":write"));
const PEOPLE = ROLES;
const MOVERS = PEOPLE.filter((role) => role !== "viewer");
type Caller = (typeof PEOPLE)[number] | `key with ${Scope}` | "key with all scopes";

let customer: Customer;
const clients = new Map<Caller, ApiClient>();
const clientOf = (caller: Caller): ApiClient => {
  const client = clients.get(caller);
  if (client === undefined) throw new Error(`There is no ${caller}.`);
  return client;
};

/** The code of the error with which a call ends; "ok" without one. */
const endOf = async (
  work: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string }> => {
  try {
    await work;
    return { code: "ok", message: "" };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, message: error.message };
  }
};

interface Subject {
  /** The callers who get a code. */
  readonly may: readonly Caller[];
  readonly ask: (client: ApiClient) => Promise<unknown>;
  /** The step that takes the code. */
  readonly next: (client: ApiClient) => Promise<unknown>;
}

const keysWith = (...scopes: Scope[]): Caller[] => [
  "key with all scopes",
  ...scopes.map((scope) => `key with ${scope}` as const),
];
const asking = (body: BodyInput<typeof requestOtp>) => (client: ApiClient) =>
  client.call(requestOtp, { body });

const from = (): BodyInput<typeof createQuote> => ({
  from: [{ address: customer.treasury, chainId: CHAIN, token: "USDC", amount: "2" }],
  ...{ toChainId: CHAIN, toToken: "USDC", toAddress: testAccount().address },
});
const transferBody = () => ({
  fromWalletId: customer.treasuryId,
  ...{
    fromChainId: CHAIN,
    toChainId: CHAIN,
    token: "USDC",
    amount: "2",
    toAddress: testAccount().address,
  },
});

const quoted = async (): Promise<Subject> => {
  const { quoteId } = await customer.session.client.call(createQuote, { body: from() });
  return {
    may: [...MOVERS, ...keysWith("swaps:write")],
    ask: asking({ quoteId }),
    next: (client) => client.call(prepareSwap, { body: { quoteId, otp: WRONG } }),
  };
};

const privatelyQuoted = async (): Promise<Subject> => {
  const body = { chainId: CHAIN, fromToken: "USDC", toToken: "DAI", amount: "20" };
  const { quoteId } = await customer.session.client.call(quotePrivateSwap, { body });
  return {
    may: [...MOVERS, ...keysWith("privacy:write")],
    ask: asking({ quoteId }),
    next: (client) => client.call(preparePrivateSwap, { body: { quoteId, otp: WRONG } }),
  };
};

const transferred = async (): Promise<Subject> => {
  const { transferId } = await customer.session.client.call(createTransfer, {
    body: transferBody(),
  });
  return {
    may: [...MOVERS, ...keysWith("transfers:write")],
    ask: asking({ transferId }),
    next: (client) => client.call(prepareSwap, { body: { transferId, otp: WRONG } }),
  };
};

const waits = (operationId: string): Subject => ({
  may: MOVERS,
  ask: asking({ operationId }),
  next: (client) =>
    client.call(approveOperation, { params: { id: operationId }, body: { otp: WRONG } }),
});

const operation = async (): Promise<Subject> => {
  const { token: fromToken, toAddress: recipient, ...at } = transferBody();
  const body = { ...at, fromToken, toToken: "USDC", recipient };
  return waits((await customer.session.client.call(swapAndTransfer, { body })).operationId);
};

const privateOperation = async (): Promise<Subject> => {
  const { client } = customer.session;
  const { id: privacyWalletId } = await client.call(createPrivacyWallet, {
    body: { name: "Payroll" },
  });
  await money.deposit(privacyWalletId, "USDC", "100");
  const body = {
    chainId: CHAIN,
    token: "USDC",
    amount: "20",
    toAddress: testAccount().address,
    privacyWalletId,
  };
  return waits((await client.call(privateTransfer, { body })).operationId);
};

const payout = async (): Promise<Subject> => {
  const { client } = customer.session;
  const open = async () =>
    (await client.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [sourceAccountId, recipientAccountId] = [await open(), await open()];
  const transfers = [{ recipientAccountId, amount: "1", currency: "USDC" }];
  const body = { sourceAccountId, transfers, mode: "independent" as const };
  const payoutId = (await client.call(createAccountsPayout, { body })).payoutId ?? "";
  return {
    may: MOVERS,
    ask: asking({ payoutId }),
    next: (by) => by.call(approvePayout, { params: { id: payoutId }, body: { otp: WRONG } }),
  };
};

const schedule = async (): Promise<Subject> => {
  const transfers = [{ address: testAccount().address, amount: "1", token: "USDC" }];
  const startsAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = { chainId: CHAIN, transfers, startsAt };
  const { id: scheduleId } = await customer.session.client.call(createPayoutSchedule, { body });
  return {
    may: MOVERS,
    ask: asking({ scheduleId }),
    next: (client) =>
      client.call(approvePayoutSchedule, { params: { id: scheduleId }, body: { otp: WRONG } }),
  };
};

/**
 * A change that everybody may ask for: another e-mail address. A key never gets an approval, and
 * finds nobody's.
 */
const approval = (): Subject => {
  const body = { email: "other@example.test" };
  const approvals = new Map<ApiClient, string>();
  let newest = "apr_none";
  return {
    may: PEOPLE,
    ask: async (client) => {
      if (PEOPLE.some((role) => clientOf(role) === client)) {
        const error: unknown = await client
          .call(updateMe, { body })
          .catch((thrown: unknown) => thrown);
        newest =
          error instanceof ApiError ? (error.body as { approvalId: string }).approvalId : "";
        approvals.set(client, newest);
      }
      return client.call(requestOtp, { body: { approvalId: newest } });
    },
    next: (client) => {
      const given = { approvalId: approvals.get(client) ?? "", otp: WRONG };
      return client.call(updateMe, { body: { ...body, approval: given } });
    },
  };
};

/** A request for votes, which the owner made and only admins decide. */
const decision = async (): Promise<Subject> => {
  const { projectId } = await prisma.wallet.findUniqueOrThrow({
    where: { id: customer.treasuryId },
  });
  const { userId } = await services.auth.verifyAccessToken(customer.session.accessToken);
  const id = await services.database.transaction((tx) =>
    services.decisions.open(tx, {
      projectId,
      subject: { type: "test", id: "followable" },
      digest: new Uint8Array(32),
      ...{ title: "Pay", lines: [], maker: actorOf(userId, projectId, "owner") },
      required: { count: 1, roles: ["admin"], excludeMaker: true },
      expiresAt: new Date(Date.now() + 3_600_000),
    }),
  );
  return {
    may: ["admin"],
    ask: (client) => client.call(requestDecisionCode, { params: { id }, query: {} }),
    next: (client) => client.call(approveDecision, { params: { id }, body: { otp: WRONG } }),
  };
};

/**
 * Makers of the things that codes approve, by the field of POST /swap/request-otp that names the
 * thing; and requests for votes.
 */
const SUBJECTS: Readonly<Record<string, readonly (() => Promise<Subject> | Subject)[]>> = {
  quoteId: [quoted, privatelyQuoted],
  transferId: [transferred],
  operationId: [operation, privateOperation],
  payoutId: [payout],
  scheduleId: [schedule],
  approvalId: [approval],
  "a request for votes": [decision],
};

beforeAll(async () => {
  customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "100" });
  const { projectId } = await prisma.wallet.findUniqueOrThrow({
    where: { id: customer.treasuryId },
  });
  clients.set("owner", client);
  for (const role of PEOPLE)
    if (role !== "owner") clients.set(role, (await newMember(api, projectId, role)).client);
  for (const scope of KEYS)
    clients.set(
      `key with ${scope}`,
      (await api.createKey(customer.session, { scopes: [scope] })).client,
    );
  clients.set(
    "key with all scopes",
    (await api.createKey(customer.session, { scopes: [...SCOPES] })).client,
  );
}, 240_000);

test("every field that names the subject of a code is tried", () => {
  const fields = Object.keys(requestOtp.body.shape).filter((field) => field !== "channel");
  expect(Object.keys(SUBJECTS)).toEqual(expect.arrayContaining(fields));
});

/**
 * One person asks for more codes here than anybody does in an hour, and sooner after the last one.
 */
const forgetLimits = async (): Promise<void> => {
  await prisma.codeLimit.deleteMany();
  await prisma.emailCode.updateMany({ data: { createdAt: new Date(Date.now() - 61_000) } });
};

const countMails = async (): Promise<number> => prisma.devMail.count();

test.each(
  Object.entries(SUBJECTS).flatMap(([field, makes]) =>
    makes.map((make) => [field, make.name, make] as const),
  ),
)(
  "a code for %s (%s) goes to nobody who cannot use it",
  async (field, _name, make) => {
    const { may, ask, next } = await make();
    const wrong: string[] = [];
    for (const [caller, client] of clients) {
      await forgetLimits();
      const before = await countMails();
      const { code, message } = await endOf(ask(client));
      const mailed = (await countMails()) - before;
      const then = code === "ok" ? (await endOf(next(client))).code : "refused";
      const got = `${code === "ok" ? "asked" : "refused"}, ${String(mailed)} mailed, then ${then}`;
      const expected = may.includes(caller)
        ? "asked, 1 mailed, then otp_invalid"
        : "refused, 0 mailed, then refused";
      if (got !== expected)
        wrong.push(`${caller}: ${got} (${code}); it has to be: ${expected}`);
      // The refusal of a key says who can approve.
      const isForPeople = ["operationId", "payoutId", "scheduleId"].includes(field);
      if (
        isForPeople &&
        caller.startsWith("key") &&
        code === "forbidden" &&
        !message.includes("owner, admin, operator")
      )
        wrong.push(`${caller}: ${message}`);
    }
    expect(wrong).toEqual([]);
  },
  240_000,
);

test("a key is asked for no approval that it could not give, and is told who can", async () => {
  const { client } = customer.session;
  const body = { url: "http://127.0.0.1:9999/hook", events: ["payout.*" as const] };
  const { id } = await client.call(createWebhookEndpoint, { body });
  const key = clientOf("key with all scopes");
  const before = await countMails();
  const change = { params: { id }, body: { url: "http://127.0.0.1:9998/hook" } };
  // Awaited together: the second one may be refused first.
  const ends = await Promise.all([
    endOf(key.call(updateWebhookEndpoint, change)),
    endOf(key.call(rotateWebhookSecret, { params: { id }, body: {} })),
  ]);
  for (const { code, message } of ends) {
    expect(code).toBe("forbidden");
    expect(message).toContain("person");
  }
  expect(await countMails()).toBe(before);
});

test("a key that may only transfer takes every step of a transfer, and a key that may not start a movement does not retry it", async () => {
  const client = clientOf("key with transfers:write");
  await forgetLimits();
  const { transferId } = await client.call(createTransfer, { body: transferBody() });
  const seen = ((await services.inbox?.list({ to: customer.email, limit: 100 })) ?? []).flatMap(
    ({ code }) => code ?? [],
  );
  await client.call(requestOtp, { body: { transferId } });
  const otp = await api.readCode(customer.email, seen);
  await client.call(prepareSwap, { body: { transferId, otp } });
  const { operationId: id } = await client.call(executeSwap, { body: { transferId } });
  const failure = { code: "chain_unavailable", message: "It failed.", retryable: true };
  await prisma.operationLeg.updateMany({
    where: { operationId: id },
    data: { state: "failed", failure },
  });
  await prisma.operation.update({
    where: { id },
    data: { status: "failed", subStatus: "full", failure },
  });
  const quotes = () => prisma.quote.count({ where: { retryOf: id } });
  const only = clientOf("key with operations:write");
  expect((await endOf(only.call(retryOperation, { params: { id } }))).code).toBe(
    "insufficient_scope",
  );
  expect(await quotes()).toBe(0);
  await clientOf("key with all scopes").call(retryOperation, { params: { id } });
  expect(await quotes()).toBe(1);
});

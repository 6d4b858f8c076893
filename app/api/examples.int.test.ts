/**
 * Calls every operation once over real HTTP. The calls are the examples of the OpenAPI document,
 * and show that answers fit their schemas.
 */
import { beforeAll, expect, inject, test, vi } from "vitest";
import { createSiweMessage } from "viem/siwe";
import { namedContracts } from "@/lib/contracts/all";
import recorded from "@/lib/contracts/examples/recorded.json";
import { EXAMPLES } from "@/lib/http/openapi-errors";
import { openApiDocument } from "@/lib/http/openapi";
import { testApi } from "@/lib/dev/testing/api";
import { callAccountStates } from "@/lib/dev/testing/account-examples";
import { callApprovals } from "@/lib/dev/testing/approval-examples";
import { callDeposits } from "@/lib/dev/testing/deposit-examples";
import { doubtPaid } from "@/lib/dev/testing/payout-doubts";
import { callPayouts } from "@/lib/dev/testing/payout-examples";
import { callPolicies } from "@/lib/dev/testing/policy-examples";
import { unclearRefund } from "@/lib/dev/testing/unclear-refund";
import {
  exampleRecorder,
  operationsOf,
  writeExamples,
  type Body,
} from "@/lib/dev/testing/example-recorder";
import { testAccount } from "@/lib/dev/testing/factories";
import { serveApi } from "@/lib/dev/testing/http";
import { codesOf, fund, newCustomer } from "@/lib/dev/testing/journey";
import { forgetIn } from "@/lib/dev/testing/lost-answers";
import { lintOpenApi } from "@/lib/dev/testing/lint-openapi";
import { callJobs, callReceiver } from "@/lib/dev/testing/system-examples";
import { callTexts } from "@/lib/dev/testing/text-examples";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";

const CHAIN = 31337;
const OTHER_CHAIN = 31338;
const HISTORY_MS = 20_000;
const api = await testApi({ worker: true, deposits: true });
const receiver = await webhookReceiver();
const baseUrl = await serveApi(api.services);
const recorder = exampleRecorder(baseUrl, forgetIn(api.services.database));
const { call, keep, examples } = recorder;
const customer = await newCustomer(api);
const { account, accessToken } = customer.session;
const recipient = testAccount().address;
const person = { authorization: `Bearer ${accessToken}` };
const apiKey = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" });
const key = { "x-api-key": apiKey.secret };

const text = (body: Body, name: string): string => String(body[name]);

/** The code that approves what the subject names; the first request of a code is the example. */
const codeFor = async (subject: object): Promise<string> => {
  const seen = await codesOf(api, customer);
  await call("requestOtp", { body: subject, as: person });
  return api.readCode(customer.email, seen);
};

/**
 * Sends a request without its approval, and again with the wallet's signature over what the 409
 * says.
 */
const approved = async (
  operationId: string,
  body: object,
  params: Readonly<Record<string, string>> = {},
): Promise<Body> => {
  const asked = await call(operationId, { body, params, as: person, recorded: false });
  const signature = await account.signMessage({ message: text(asked, "message") });
  const approval = { approvalId: asked.approvalId, signature };
  return call(operationId, { body: { ...body, approval }, params, as: person });
};

const untilFinal = (operationId: string, id: string): Promise<Body> =>
  vi.waitFor(
    async () => {
      const body = await call(operationId, { params: { id }, as: key });
      expect(["pending", "processing"]).not.toContain(body.status);
      return body;
    },
    { timeout: 45_000, interval: 100 },
  );

const signIn = async (): Promise<void> => {
  const owner = testAccount();
  const { nonce, domain, uri, statement } = await call("createNonce", {
    body: { address: owner.address },
  });
  const texts = {
    domain: String(domain),
    uri: String(uri),
    statement: String(statement),
    nonce: String(nonce),
  };
  const message = createSiweMessage({
    ...texts,
    address: owner.address,
    chainId: CHAIN,
    version: "1",
    issuedAt: new Date(),
  });
  const first = await call("createToken", {
    body: { message, signature: await owner.signMessage({ message }) },
  });
  const next = await call("refreshToken", { body: { refreshToken: first.refreshToken } });
  await call("logout", { as: { authorization: `Bearer ${text(next, "accessToken")}` } });
  await call("getJwks");
};

const profile = async (): Promise<void> => {
  await call("getMe", { as: person });
  await call("whoAmI", { as: key });
  await call("updateSponsorBudget", {
    body: { chainId: CHAIN, dailyLimit: "100" },
    as: person,
  });
  const stranger = await api.signIn();
  const as = { authorization: `Bearer ${stranger.accessToken}` };
  const email = "someone@example.test";
  const asked = await call("updateMe", { body: { email }, as, recorded: false });
  const signature = await stranger.account.signMessage({ message: text(asked, "message") });
  await call("updateMe", {
    body: { email, approval: { approvalId: asked.approvalId, signature } },
    as,
  });
  await call("verifyEmail", { body: { code: await api.readCode(email) }, as });
  await call("readInbox", { query: { limit: "2" } });
};

const members = async (): Promise<void> => {
  const id = text(await call("createProject", { body: { name: "Shop" }, as: person }), "id");
  const shop = { ...person, "x-project-id": id };
  await call("updateProject", { params: { id }, body: { name: "Corner shop" }, as: shop });
  const guest = await api.signIn();
  const as = { authorization: `Bearer ${guest.accessToken}` };
  const email = await api.verifiedEmail(guest);
  const made = await approved("createInvitation", { email, role: "viewer" });
  const mail = await vi.waitFor(async () => {
    const found = (await api.services.inbox?.list({ to: email, limit: 5 }))?.find(
      ({ text: body }) => body.includes("/join#"),
    );
    if (found === undefined) throw new Error("No invitation was mailed yet.");
    return found;
  }, 20_000);
  const token = /#([0-9A-Za-z]{43})/.exec(mail.text)?.[1];
  await call("lookUpInvitation", { body: { token }, as });
  await call("acceptInvitation", { body: { token }, as });
  await call("listMembers", { as: person });
  const guestId = text(await call("getMe", { as, recorded: false }), "id");
  await approved("updateMember", { role: "operator" }, { id: guestId });
  await call("getMemberRemoval", { params: { id: guestId }, as: person });
  await call("removeMember", { params: { id: guestId }, body: {}, as: person });
  const other = await approved("createInvitation", {
    email: "ada@example.test",
    role: "viewer",
  });
  await call("listInvitations", { as: person });
  await call("withdrawInvitation", { params: { id: text(other, "id") }, as: person });
  expect(made).toMatchObject({ status: "open" });
};

const keys = async (): Promise<void> => {
  const made = await approved("createApiKey", {
    name: "Payroll",
    otp: "exempt",
    dailyCapUsd: "500",
  });
  const params = { id: text(made, "id") };
  await call("updateApiKey", {
    params,
    body: { name: "Payroll, read only", scopes: ["payouts:read"] },
    as: person,
  });
  const plain = await api.createKey(customer.session);
  await approved("rotateApiKey", { overlapSeconds: 3600 }, { id: plain.id });
  await call("listApiKeys", { as: person });
  await call("listWallets", { as: key, recorded: false });
  await vi.waitFor(async () => {
    const { data } = await call("listApiKeyRequests", {
      params: { id: apiKey.id },
      as: person,
    });
    expect(data).not.toEqual([]);
  }, 20_000);
  await call("revokeApiKey", { params, as: person });
  await callPolicies({ call, approved, as: key, customer, chainId: CHAIN });
};

const wallets = async (): Promise<void> => {
  await call("listWallets", { as: key });
  await call("labelWallet", {
    params: { id: customer.treasuryId },
    body: { label: "Till" },
    as: person,
  });
  const linked = testAccount();
  const { message } = await call("initWalletLink", {
    body: { address: linked.address },
    as: person,
  });
  const signature = await linked.signMessage({ message: String(message) });
  await call("verifyWalletLink", { body: { address: linked.address, signature }, as: person });
  await call("listLinkedWallets", { as: person });
  await call("createSmartAccount", {
    body: { ownerAddress: linked.address, chainId: CHAIN },
    as: key,
  });
  const other = testAccount();
  const body = { address: other.address };
  const asked = await call("initWalletLink", { body, as: person, recorded: false });
  const proof = await other.signMessage({ message: text(asked, "message") });
  await call("verifyWalletLink", {
    body: { ...body, signature: proof },
    as: person,
    recorded: false,
  });
  await call("unlinkWallet", { params: body, as: person });
};

const addressBook = async (): Promise<void> => {
  const { id } = await call("createContact", {
    body: { name: "Ada", address: recipient },
    as: key,
  });
  await call("listContacts", { as: key });
  await call("getContact", { params: { id: String(id) }, as: key });
  await call("updateContact", {
    params: { id: String(id) },
    body: { tags: ["Supplier"], chainIds: [CHAIN] },
    as: key,
  });
  await call("deleteContact", { params: { id: String(id) }, as: key });
};

const endpoints = async (): Promise<string> => {
  const body = { url: receiver.url, events: ["*"], description: "Books" };
  const id = text(await call("createWebhookEndpoint", { body, as: person }), "id");
  const params = { id };
  await call("updateWebhookEndpoint", { params, body: { description: "Ledger" }, as: key });
  await call("getWebhookEndpoint", { params, as: key });
  await call("listWebhookEndpoints", { as: key });
  await approved("rotateWebhookSecret", { overlapHours: 24 }, params);
  return id;
};

const deliveries = async (endpointId: string): Promise<void> => {
  const params = { id: endpointId };
  const test = await call("testWebhookEndpoint", { params, as: key });
  const delivery = { id: text(test, "id") };
  await vi.waitFor(
    async () =>
      expect(await call("getDelivery", { params: delivery, as: key })).toMatchObject({
        status: "delivered",
      }),
    { timeout: 20_000, interval: 100 },
  );
  await call("listDeliveries", { params, as: key });
  await call("resendDelivery", { params: delivery, as: key });
  await call("replayWebhookEvents", { params, body: { from: 1, to: 2 }, as: person });
  await call("listEvents", { query: { limit: "2" }, as: key });
  const removed = await call("createWebhookEndpoint", {
    body: { url: receiver.url, events: ["payout.*"] },
    as: key,
    recorded: false,
  });
  await call("deleteWebhookEndpoint", { params: { id: text(removed, "id") }, as: key });
};

/** @returns the id of the operation, which has ended */
const swaps = async (): Promise<string> => {
  const from = [{ address: customer.treasury, chainId: CHAIN, token: "USDC", amount: "10" }];
  const body = { from, toChainId: OTHER_CHAIN, toToken: "USDC", toAddress: recipient };
  const { quoteId } = await call("createQuote", { body, as: person });
  await call("prepareSwap", { body: { quoteId, otp: await codeFor({ quoteId }) }, as: person });
  const { operationId } = await call("executeSwap", { body: { quoteId }, as: person });
  const done = await untilFinal("getOperation", String(operationId));
  await call("getPolicyEvaluation", { params: { id: text(done, "evaluationId") }, as: key });
  await call("listOperations", { query: { limit: "1" }, as: key });
  const note = { memo: "Rent of May", tags: ["Rent"] };
  await call("putAnnotation", { params: { id: String(operationId) }, body: note, as: person });
  await call("listAnnotations", { query: { ids: String(operationId) }, as: person });
  await call("listActivity", { query: { limit: "1" }, as: key });
  await call("summarizeActivity", { query: { by: "month" }, as: key });
  return String(operationId);
};

const payment = {
  fromWalletId: customer.treasuryId,
  fromChainId: CHAIN,
  toChainId: CHAIN,
  amount: "5",
};

const transfers = async (): Promise<void> => {
  const { transferId } = await call("createTransfer", {
    body: { ...payment, token: "USDC", toAddress: recipient },
    as: person,
  });
  await call("getTransfer", { params: { id: String(transferId) }, as: key });
  await call("listTransfers", { query: { limit: "1" }, as: key });
  await call("cancelTransfer", { params: { id: String(transferId) }, as: person });
};

const operations = async (): Promise<void> => {
  const body = { ...payment, fromToken: "USDC", toToken: "USDC", recipient };
  const first = await call("swapAndTransfer", { body, as: person });
  const otp = await codeFor({ operationId: first.operationId });
  await call("approveOperation", {
    params: { id: text(first, "operationId") },
    body: { otp },
    as: person,
  });
  const params = await unclearRefund(
    api.services.database,
    customer.session.client,
    text(first, "operationId"),
  );
  await call("decideRefund", {
    params,
    body: { decision: "not_refunded_keep_waiting" },
    as: person,
  });
  const second = await call("swapAndTransfer", { body, as: person, recorded: false });
  await call("cancelOperation", { params: { id: text(second, "operationId") }, as: person });
};

/** The tree of accounts is some seconds old, so the proof is asked for as a minute later. */
const provedReserves = async (params: Readonly<Record<string, string>>): Promise<void> => {
  const { clock } = api.services;
  const later = new Date(clock.now().getTime() + 60_000);
  const time = vi.spyOn(clock, "now").mockImplementation(() => later);
  try {
    await call("getReserves", { as: key });
    await call("getReserveStatement", { params: { currency: "usdc" }, as: key });
    await call("getReservesProof", { params, as: key });
  } finally {
    time.mockRestore();
  }
};

const accounts = async (): Promise<readonly [string, string]> => {
  const body = { currency: "USDC", name: "Customer 17" };
  const payer = text(await call("createGlobalAccount", { body, as: key }), "id");
  const payee = text(
    await call("createGlobalAccount", { body: { currency: "USDC" }, as: key, recorded: false }),
    "id",
  );
  const params = { id: payer };
  // Reserves count at final blocks, so the gift takes a moment.
  const funding = await vi.waitFor(
    () =>
      call("fundGlobalAccount", { params, body: { amount: "20", currency: "USDC" }, as: key }),
    { timeout: 20_000, interval: 200 },
  );
  await call("reverseFunding", {
    params,
    body: { transactionId: funding.transactionId },
    as: person,
  });
  await call("fundGlobalAccount", {
    params,
    body: { amount: "30", currency: "USDC" },
    as: key,
  });
  await call("getGlobalAccount", { params, as: key });
  await call("listGlobalAccounts", { as: key });
  await call("listEntries", { params, as: key });
  await call("getStatement", { params, as: key });
  await provedReserves(params);
  await callAccountStates({ call, approved, person, key });
  return [payer, payee];
};

const system = async (): Promise<void> => {
  const { database } = api.services;
  const { projectId } = await database.prisma.wallet.findFirstOrThrow({
    where: { address: customer.treasury },
  });
  await callJobs(database, call, { as: person, projectId });
  await call("getHealth");
  await call("getReadiness");
  await call("listChains");
  await call("listChainHeads");
  await call("listTokens", { query: { chainId: String(CHAIN) } });
  // The point of the history is stored after the balances were answered, and only when all of them
  // could be read.
  await vi.waitFor(
    async () => {
      await call("getUnifiedBalances", { as: key });
      expect(await call("getBalanceHistory", { as: key })).not.toEqual({ data: [] });
    },
    { timeout: HISTORY_MS, interval: 200 },
  );
  await call("listCurrencyRates", { as: key });
  await call("setReportingCurrency", { body: { currency: "EUR" }, as: person });
  await call("getReportingCurrency", { as: key });
  await call("listAuditLog", { query: { limit: "2" }, as: person });
  await call("useFaucet", {
    body: { address: recipient, chainId: CHAIN, token: "USDC", amount: "1" },
    as: person,
  });
  await call("receiveRoutingCallback", { body: { id: "1", type: "transfer.status" } });
  await call("receiveBundlerCallback", { body: { id: "2", type: "user_operation.mined" } });
  await callReceiver(call, person);
};

beforeAll(async () => {
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "200" });
  const endpointId = await endpoints();
  await Promise.all([signIn(), profile(), wallets(), addressBook()]);
  await keys();
  await members();
  await callApprovals({
    api,
    session: customer.session,
    email: customer.email,
    call,
    as: person,
  });
  const operation = await swaps();
  await transfers();
  await operations();
  const accountIds = await accounts();
  const payout = await callPayouts(
    {
      call,
      codeFor,
      untilFinal,
      chainId: CHAIN,
      recipient,
      person,
      key,
      doubt: (id) => doubtPaid(api.services.database, id),
    },
    { accountIds },
  );
  await callDeposits({ api, ...recorder, chainId: CHAIN });
  await deliveries(endpointId);
  await system();
  await callTexts({
    ...recorder,
    person,
    key,
    ids: { operation, payout, account: accountIds[0] },
  });
  for (const { body } of receiver.received) keep(String(body.type), { request: body });
});

test("every answer fits its schema, and has no field that the schema does not know", async () => {
  const fresh = examples();
  if (inject("recordsExamples"))
    await writeExamples("lib/contracts/examples/recorded.json", fresh);
  expect(await lintOpenApi(openApiDocument(namedContracts, { ...EXAMPLES, ...fresh }))).toEqual(
    [],
  );
});

test.runIf(!inject("recordsExamples"))(
  "the committed examples are of the operations that were called",
  () => {
    expect(operationsOf(recorded)).toEqual(operationsOf(examples()));
  },
);

test.runIf(!inject("recordsExamples"))(
  "each event that was received has a committed example",
  () => {
    expect(Object.keys(examples()).filter((name) => !(name in EXAMPLES))).toEqual([]);
  },
);

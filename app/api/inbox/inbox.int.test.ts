/** The inbox of a project: everything that waits for a person, in one form. */
import { beforeAll, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { createGlobalAccount } from "@/lib/contracts/global-accounts";
import { approveContact, createContact } from "@/lib/contracts/contacts";
import { readProjectInbox } from "@/lib/contracts/inbox";
import { createPayoutSchedule } from "@/lib/contracts/payout-schedules";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import type { ApiClient } from "@/lib/api-client/client";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { idOf } from "@/lib/dev/testing/payout-requests";
import { putRules } from "@/lib/dev/testing/policies";
import { demandVotes, newMember, vote } from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const api = await testApi();
const { prisma } = api.services.database;

let customer: Customer;
let client: ApiClient;
let projectId = "";
beforeAll(async () => {
  customer = await newCustomer(api);
  ({ client } = customer.session);
  projectId = (await client.call(getMe)).projects[0]?.id ?? "";
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "50" });
});

const inboxOf = async (by: ApiClient) => (await by.call(readProjectInbox)).data;

const newPayout = async (reference?: string): Promise<string> => {
  const open = async () =>
    (await client.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [sourceAccountId, recipientAccountId] = [await open(), await open()];
  const transfers = [{ recipientAccountId, amount: "1", currency: "USDC" }];
  const named = reference === undefined ? {} : { reference };
  const body = { sourceAccountId, transfers, mode: "independent" as const, ...named };
  return idOf(await client.call(createAccountsPayout, { body }));
};

const newOperation = async (): Promise<string> => {
  const at = {
    fromWalletId: customer.treasuryId,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    fromToken: "USDC",
    toToken: "USDC",
  };
  const body = { ...at, amount: "5", recipient: testAccount().address };
  return (await client.call(swapAndTransfer, { body })).operationId;
};

test("what waits for a code, for votes, or for a look is in one list, and what the person may do stands first", async () => {
  const [payout, operation] = [await newPayout("Rent, May"), await newOperation()];
  const startsAt = new Date(Date.now() + 3_600_000).toISOString();
  const row = { address: testAccount().address, amount: "1", token: "USDC" };
  const body = { chainId: CHAIN, transfers: [row], startsAt };
  const named = { ...body, reference: "Rent, monthly" };
  const { id: scheduleId } = await client.call(createPayoutSchedule, { body: named });
  const { id: unnamed } = await client.call(createPayoutSchedule, { body });
  const failed = await newPayout();
  const now = new Date();
  await prisma.payout.update({
    where: { id: failed },
    data: { status: "failed", subStatus: "full", itemsFailed: 1, updatedAt: now },
  });
  const old = await newPayout();
  const long = {
    status: "failed",
    subStatus: "full",
    itemsFailed: 1,
    updatedAt: new Date("2020-01-01T00:00:00Z"),
  };
  await prisma.payout.update({ where: { id: old }, data: long });
  await prisma.job.create({
    data: {
      id: failed,
      queue: "payout",
      runAt: now,
      failures: 50,
      lastError: "x",
      parkedAt: now,
    },
  });
  await newMember(api, projectId, "owner");
  await demandVotes(client, { count: 1, roles: ["owner"] });
  const voted = await newPayout();

  const items = await inboxOf(client);
  const kindOf = (id: string) =>
    items.filter((item) => item.id === id).map(({ kind, mine }) => [kind, mine]);
  expect(kindOf(payout)).toEqual([["payout", true]]);
  expect(kindOf(operation)).toEqual([["operation", true]]);
  expect(kindOf(scheduleId)).toEqual([["schedule", true]]);
  const titleOf = (id: string) => items.find((item) => item.id === id)?.title;
  expect(titleOf(payout)).toBe("Payout “Rent, May” to 1 account");
  expect(titleOf(scheduleId)).toBe("Scheduled payout “Rent, monthly” to 1 wallet");
  expect(titleOf(unnamed)).toBe("Scheduled payout to 1 wallet");
  expect(
    kindOf(failed)
      .map(([kind]) => kind)
      .sort(),
  ).toEqual(["failure", "stopped_work"]);
  expect(kindOf(old)).toEqual([]);
  // Votes are asked for on the request, which stands for its payout.
  expect(kindOf(voted)).toEqual([]);
  const decision = items.find(({ kind }) => kind === "decision");
  expect(decision).toMatchObject({
    title: "Payout to 1 account",
    mine: false,
    toDo: "You asked for it, so other people have to approve it. You can cancel it. 0 of 1 approval so far.",
    votes: { approvals: 0, required: 1 },
    byName: customer.email,
    movement: { kind: "Payout to 1 account", amounts: [{ amount: "1", symbol: "USDC" }] },
  });
  expect(decision?.path).toBe(`/inbox/${decision?.id ?? ""}`);
  expect(items.find(({ id }) => id === operation)).toMatchObject({
    title: "Swap and transfer of 5.00 USDC",
    path: `/activity/${operation}`,
    // No code is taken since the project demands votes.
    toDo: "Cancel it and create it again: this project approves payments by votes now.",
    byName: customer.email,
    movement: {
      kind: "Swap and transfer",
      amounts: [{ amount: "5", symbol: "USDC" }],
      chainId: CHAIN,
    },
    votes: null,
  });
  // Only what cannot be done comes last.
  expect(items.map(({ mine }) => mine)).toEqual(
    [...items.map(({ mine }) => mine)].sort((a, b) => Number(b) - Number(a)),
  );

  const other = await newMember(api, projectId, "owner");
  expect((await inboxOf(other.client)).find(({ kind }) => kind === "decision")).toMatchObject({
    mine: true,
  });
  await vote(other, decision?.id ?? "", "decline");
  expect((await inboxOf(client)).filter(({ kind }) => kind === "decision")).toEqual([]);
});

test("a proposed contact waits for owners and admins where a policy looks at approved contacts, until one approves it", async () => {
  const of = await newCustomer(api);
  const contacts = async (by: ApiClient) =>
    (await inboxOf(by)).filter(({ kind }) => kind === "contact");
  const address = testAccount().address;
  const { id } = await of.session.client.call(createContact, {
    body: { name: "Acme", address },
  });
  // Without such a policy it is paid as it is.
  expect(await contacts(of.session.client)).toEqual([]);
  await putRules(of.session, {
    scope: "project",
    baseVersion: 0,
    rules: { recipients: "approved_contacts" },
  });
  expect(await contacts(of.session.client)).toMatchObject([
    { id, title: 'Contact "Acme" is proposed', mine: true, path: `/contacts?q=${address}` },
  ]);
  const project = (await of.session.client.call(getMe)).projects[0]?.id ?? "";
  const operator = await newMember(api, project, "operator");
  expect(await contacts(operator.client)).toMatchObject([{ id, mine: false }]);
  await withApproval(of.session.account, (approval) =>
    of.session.client.call(approveContact, {
      params: { id },
      body: approval ? { approval } : {},
    }),
  );
  expect(await contacts(of.session.client)).toEqual([]);
});

test("an operation whose refund is unclear asks for a decision, and no more once it is decided", async () => {
  const operationId = await newOperation();
  const refunds = async () => (await inboxOf(client)).filter(({ kind }) => kind === "refund");
  expect(await refunds()).toEqual([]);
  const unclear = { status: "processing", subStatus: "needs_attention" };
  await prisma.operation.update({ where: { id: operationId }, data: unclear });
  expect(await refunds()).toMatchObject([
    {
      ...{ id: operationId, mine: true, path: `/activity/${operationId}` },
      title: "Decide about the refund: Swap and transfer of 5.00 USDC",
    },
  ]);
  const viewer = await newMember(api, projectId, "viewer");
  expect((await inboxOf(viewer.client)).filter(({ kind }) => kind === "refund")).toMatchObject([
    { mine: false },
  ]);
  await prisma.operation.update({
    where: { id: operationId },
    data: { status: "failed", subStatus: "full" },
  });
  expect(await refunds()).toEqual([]);
});

test("a viewer reads what waits and can do nothing of it; another project's inbox has none of it", async () => {
  const viewer = await newMember(api, projectId, "viewer");
  const items = await inboxOf(viewer.client);
  expect(items.length).toBeGreaterThan(0);
  expect(items.filter(({ mine, kind }) => mine || kind === "stopped_work")).toEqual([]);
  expect(await inboxOf((await api.signIn()).client)).toEqual([]);
});

test("an operation is named by the sum of each asset that it takes, whatever the number of its sources", async () => {
  const operationId = await newOperation();
  const { request } = await prisma.operation.findUniqueOrThrow({ where: { id: operationId } });
  const { sources } = request as { sources: object[] };
  const data = {
    request: { ...(request as object), sources: [...sources, ...sources] },
    ...{ status: "processing", subStatus: "needs_attention" },
  };
  await prisma.operation.update({ where: { id: operationId }, data });
  const item = (await inboxOf(client)).find(({ id }) => id === operationId);
  expect(item?.title).toBe("Decide about the refund: Swap and transfer of 10.00 USDC");
});

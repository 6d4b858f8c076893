/** Services check the caller's role themselves, because this test calls them without HTTP. */
import { beforeAll, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import type { Role, UserActor } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { testApi } from "@/lib/dev/testing/api";
import { quarantinedDeposit } from "@/lib/dev/testing/deposits";
import { newCustomer } from "@/lib/dev/testing/journey";
import { actorOf, newMember } from "@/lib/dev/testing/voters";

const api = await testApi({ devnet: false });
const { services } = api;
const { database, privacy, members, webhooks, apiKeys } = services;

/** The arguments are never read, because the role is checked first. */
const UNREAD = "unread" as never;
let projectId = "";
let ownerId = "";
const ids = { deposit: "", decision: "" };
const actors = new Map<Role, UserActor>();

beforeAll(async () => {
  const customer = await newCustomer(api);
  const me = await customer.session.client.call(getMe);
  ownerId = me.id;
  projectId = me.projects[0]?.id ?? "";
  for (const role of ["viewer", "operator"] as const)
    actors.set(role, (await newMember(api, projectId, role)).actor);
  ids.deposit = await quarantinedDeposit(services, customer);
  const subject = { type: "test", id: "thing_1" };
  const about = { projectId, subject, digest: new Uint8Array(32), title: "Pay", lines: [] };
  const required = { count: 1, roles: ["owner"], excludeMaker: false } as const;
  const maker = actorOf(ownerId, projectId, "owner");
  const expiresAt = new Date(Date.now() + 3_600_000);
  ids.decision = await database.transaction((tx) =>
    services.decisions.open(tx, { ...about, maker, required, expiresAt }),
  );
});

type Call = (actor: UserActor) => unknown;

/** Functions that move money. */
const MONEY: Readonly<Record<string, Call>> = {
  "quotes.create": (actor) => services.quotes.create(actor, UNREAD),
  "swaps.prepare": (actor) => services.swaps.prepare(actor, UNREAD, undefined),
  "swaps.execute": (actor) => services.swaps.execute(actor, UNREAD),
  "swaps.swapAndTransfer": (actor) => services.swaps.swapAndTransfer(actor, UNREAD, null),
  "authorize.requestCode": (actor) => services.authorize.requestCode(actor, newId("operation")),
  "authorize.approve": (actor) =>
    services.authorize.approve(actor, newId("operation"), "000000"),
  "transfers.create": (actor) => services.transfers.create(actor, UNREAD, null),
  "operations.cancel": (actor) => services.operations.cancel(actor, "op_1"),
  "operations.decideRefund": (actor) => services.operations.decideRefund(actor, UNREAD, UNREAD),
  "globalAccounts.open": (actor) => services.globalAccounts.open(actor, UNREAD),
  "globalAccounts.fund": (actor) => services.globalAccounts.fund(actor, UNREAD, UNREAD),
  "accountChanges.close": (actor) => services.accountChanges.close(actor, UNREAD, UNREAD),
  "payouts.create": (actor) => services.payouts.create(actor, UNREAD),
  "payouts.createPayout": (actor) => services.payouts.createPayout(actor, UNREAD, UNREAD),
  "payoutSchedules.create": (actor) => services.payoutSchedules.create(actor, UNREAD),
  "privacy.shield": (actor) => privacy.shield(actor, UNREAD, null),
  "privacy.transfer": (actor) => privacy.transfer(actor, UNREAD, null),
  "privacy.exit": (actor) => privacy.exit(actor, UNREAD, null),
  "privacy.wallets.create": (actor) => privacy.wallets.create(actor, "Payroll"),
  "decisions.decide": (actor) =>
    services.decisions.decide(actor, ids.decision, { decision: "approve", otp: "000000" }),
};

/** Functions for owners and admins only. */
const ADMIN: Readonly<Record<string, Call>> = {
  "apiKeys.create": (actor) => apiKeys.create(actor, { name: "Mine" }),
  "apiKeys.revoke": (actor) => apiKeys.revoke(actor, UNREAD),
  "apiRequests.list": (actor) => services.apiRequests.list(actor, UNREAD, { limit: 1 }),
  "members.invite": (actor) =>
    members.invite(actor, { email: "eve@example.test", role: "viewer" }),
  "members.changeRole": (actor) => members.changeRole(actor, ownerId, { role: "viewer" }),
  "members.remove": (actor) => members.remove(actor, ownerId, undefined),
  "members.rename": (actor) => members.rename(actor, "Taken"),
  "projectPolicies.update": (actor) =>
    services.projectPolicies.update(actor, { dailyCapUsd: "1" }),
  "votingPolicy.set": (actor) => services.votingPolicy.set(actor, null, undefined),
  "policyDocuments.put": (actor) => services.policyDocuments.put(actor, UNREAD),
  "projectBudgets.set": (actor) => services.projectBudgets.set(actor, UNREAD),
  "contacts.approve": (actor) => services.contacts.approve(actor, UNREAD, UNREAD),
  "contacts.approveAll": (actor) => services.contacts.approveAll(actor, [UNREAD], UNREAD),
  "accountChanges.unfreeze": (actor) => services.accountChanges.unfreeze(actor, UNREAD, UNREAD),
  "deposits.release": (actor) =>
    services.deposits.release(actor, ids.deposit, { reason: "Mine" }),
  "webhooks.create": (actor) => webhooks.create(actor, UNREAD),
  "webhooks.rotate": (actor) => webhooks.rotate(actor, UNREAD, { overlapHours: 0 }),
  "audit.list": (actor) => services.audit.list(actor, { limit: 1 }),
  "audit.allFor": (actor) => services.audit.allFor(actor, {}),
  "parkedJobs.list": (actor) => services.parkedJobs.list(actor),
  "parkedJobs.resume": (actor) => services.parkedJobs.resume(actor, UNREAD),
  exportPrivacyWallet: (actor) => services.exportPrivacyWallet(actor, UNREAD, undefined),
};

const CASES = [
  ...Object.entries({ ...MONEY, ...ADMIN }).map(
    ([name, work]) => [name, "viewer", work] as const,
  ),
  ...Object.entries(ADMIN).map(([name, work]) => [name, "operator", work] as const),
];

test.each(CASES)("%s refuses the %s who calls it directly", async (_name, role, work) => {
  const actor = actors.get(role) ?? actorOf("usr_none", projectId, role);
  const entries = () => database.prisma.auditEvent.count({ where: { projectId } });
  const before = await entries();
  // Some functions throw before they return a promise.
  const called = (): Promise<unknown> => Promise.resolve().then(() => work(actor));
  await expect(called()).rejects.toMatchObject({ code: "forbidden" });
  expect(await entries()).toBe(before);
});

import { expect, test, vi } from "vitest";
import { revokeApiKey, updateApiKey } from "@/lib/contracts/api-keys";
import {
  closeGlobalAccount,
  createGlobalAccount,
  freezeGlobalAccount,
  fundGlobalAccount,
  updateGlobalAccount,
} from "@/lib/contracts/global-accounts";
import { acceptInvitation, createInvitation } from "@/lib/contracts/members";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { approvePayout } from "@/lib/contracts/payouts";
import { putPolicy, updatePolicies } from "@/lib/contracts/policies";
import { restoreMadeThings } from "@/lib/contracts/sessions";
import { requestOtp } from "@/lib/contracts/swap";
import { newId } from "@/lib/core/ids";
import { doneBy } from "@/lib/news/audit/service";
import type { FullSchedule } from "@/lib/money/payouts/schedules/payout-schedule";
import { createSchedulesRepository } from "@/lib/money/payouts/schedules/repository";
import { withApproval } from "@/lib/dev/testing/approve";
import { releasePayout } from "@/lib/dev/testing/account-payouts";
import { testApi } from "@/lib/dev/testing/api";
import { codesOf, fund, newCustomer } from "@/lib/dev/testing/journey";
import { doubtUnseen } from "@/lib/dev/testing/payout-doubts";
import { eventsOf, expectTypes, type WrittenEvent } from "@/lib/dev/testing/project-events";
import { newMember, vote } from "@/lib/dev/testing/voters";
import { rowsOf, seedPayout } from "@/lib/dev/testing/wallet-payouts";

// Event types other than those of operations and transfers. Each is written by the code that
// changes the state, with a real database.
const ONE = 31337;
const LATER = new Date("2100-01-01T00:00:00Z");

const api = await testApi();
const { services } = api;
const { database, ledger } = services;
const schedules = createSchedulesRepository(database);
const customer = await newCustomer(api);
const { client } = customer.session;
const key = await api.createKey(customer.session);
const actor = await services.apiKeys.verify(key.secret);
const { projectId } = actor;
const audit = (action: string, subject: string) => ({
  ...doneBy(actor),
  action,
  subject,
  at: new Date(),
});

const written: WrittenEvent[] = [];
const note = async (objectId: string): Promise<string[]> => {
  const events = await eventsOf(database, objectId);
  written.push(...events);
  return events.map(({ type }) => type);
};

const open = (name: string): Promise<string> =>
  ledger.openAccount({ projectId, currency: "usdc", name, key: name, by: "test" });
const accounts = Promise.all(["payer", "payee", "frozen"].map(open));
const create = async (
  mode: "atomic" | "independent",
  recipients: readonly ("payee" | "frozen")[],
) => {
  const [payer = "", payee = "", frozen = ""] = await accounts;
  const transfers = recipients.map((name) => ({
    recipientAccountId: name === "payee" ? payee : frozen,
    amount: "1",
    currency: "USDC",
  }));
  const input = {
    kind: "global_accounts" as const,
    sourceAccountId: payer,
    transfers,
    mode,
    validateOnly: false,
    allowDuplicates: true,
    key: null,
  };
  return (await services.payouts.create(actor, input)).payout.id;
};
const run = async (id: string): Promise<string[]> => {
  const { signal } = new AbortController();
  await releasePayout(services, actor, id);
  for (let turn = 0; turn < 2; turn += 1) await services.payoutRunner.run(id, signal);
  return note(id);
};

test("a payout says how far it has come, and which rows failed", async () => {
  const [payer = "", , frozen = ""] = await accounts;
  const funding = {
    projectId,
    to: payer,
    amountBase: 100n * 10n ** 18n,
    currency: "usdc",
    liabilitiesMaxBase: null,
  };
  await ledger.fund({ ...funding, key: "every-type", by: "test" });
  const [paid, part, none] = [
    await create("atomic", ["payee"]),
    await create("independent", ["payee", "frozen"]),
    await create("atomic", ["frozen"]),
  ];
  await ledger.changeAccount({ projectId, accountId: frozen, to: { status: "frozen" } });
  expect(await run(paid)).toEqual(["payout.created", "payout.processing", "payout.completed"]);
  expect((await run(part)).slice(2)).toEqual([
    "payout.item.failed",
    "payout.partially_completed",
  ]);
  expect((await run(none)).at(-1)).toBe("payout.failed");
});

test("a payout says that it was approved, cancelled or has expired", async () => {
  const [approved, cancelled, expired] = [
    await create("atomic", ["payee"]),
    await create("atomic", ["payee"]),
    await create("atomic", ["payee"]),
  ];
  const codes = await codesOf(api, customer);
  await client.call(requestOtp, { body: { payoutId: approved } });
  const otp = await api.readCode(customer.email, codes);
  await client.call(approvePayout, { params: { id: approved }, body: { otp } });
  await services.payouts.cancel(actor, cancelled);
  await services.payouts.expireDue(LATER);
  expect(await note(approved)).toEqual(["payout.created", "payout.approved"]);
  expect(await note(cancelled)).toEqual(["payout.created", "payout.cancelled"]);
  expect(await note(expired)).toEqual(["payout.created", "payout.expired"]);
});

test("a payout says which rows were paid when a doubt about them is decided", async () => {
  const batches = [{ token: "USDC", rows: rowsOf("doubt", 2) }];
  const { id } = await seedPayout(services, customer, { chainId: ONE, batches });
  await doubtUnseen(services, id);
  await withApproval(customer.session.account, (approval) => {
    const body = {
      batch: 0,
      decision: "not_paid",
      reason: "Explorer",
      ...(approval ? { approval } : {}),
    } as const;
    return client.call(decidePayoutDoubt, { params: { id }, body });
  });
  const rows = ["payout.item.failed", "payout.item.failed"];
  expect(await note(id)).toEqual([...rows, "payout.failed", "payout.doubt_decided"]);
});

test("a payout says that a run of its schedule was missed or refused", async () => {
  const at = new Date();
  let schedule: FullSchedule = {
    projectId,
    id: newId("payoutSchedule"),
    status: "active",
    chainId: ONE,
    walletId: "wal_1",
    request: { chainId: ONE, transfers: [] },
    totals: [],
    warnings: [],
    rows: 1,
    reference: null,
    startsAt: at,
    period: "day",
    timeZone: "UTC",
    endsAt: null,
    nextRunAt: at,
    idempotencyKey: null,
    requestDigest: null,
    digest: new Uint8Array(32),
    createdBy: "usr_1",
    approvedBy: "usr_1",
    madeBySession: null,
    suspendedAt: null,
    createdAt: at,
    updatedAt: at,
  };
  const first = schedule;
  await database.transaction((tx) =>
    schedules.insert(tx, first, audit("payout_schedule.created", first.id)),
  );
  const failure = { code: "forbidden", message: "No.", retryable: false };
  for (const status of ["missed", "started"] as const) {
    const scheduledAt = schedule.nextRunAt ?? at;
    const nextRunAt = new Date(scheduledAt.getTime() + 86_400_000);
    await schedules.claim(
      schedule,
      { scheduledAt, nextRunAt, status, failure: null },
      null,
      at,
    );
    schedule = { ...schedule, nextRunAt };
  }
  const [open] = await schedules.openRuns(10);
  if (open === undefined) throw new Error("The run was not taken.");
  await schedules.failed(
    open,
    { status: "refused", failure },
    audit("payout_schedule.run_refused", schedule.id),
  );
  expect(await note(schedule.id)).toEqual([
    "payout_schedule.run_missed",
    "payout_schedule.run_refused",
  ]);
});

/** Ends the session that created the key, using another session, and restores the key. */
const suspendAndRestore = async (id: string): Promise<void> => {
  const { userId } = await services.auth.verifyAccessToken(customer.session.accessToken);
  const { madeBySession } = await database.prisma.apiKey.findUniqueOrThrow({ where: { id } });
  const person = {
    type: "user",
    userId,
    sessionId: "ses_other",
    projectId,
    role: "owner",
  } as const;
  await database.transaction((tx) =>
    services.sessionMade.suspend(tx, person, { only: madeBySession ?? "" }),
  );
  await withApproval(customer.session.account, (approval) =>
    client.call(restoreMadeThings, {
      body: { items: [{ kind: "api_key", id }], ...(approval ? { approval } : {}) },
    }),
  );
};

test("an API key says that it was created, updated, suspended, restored and revoked", async () => {
  const { id } = await api.createKey(customer.session);
  await client.call(updateApiKey, { params: { id }, body: { name: "another" } });
  await suspendAndRestore(id);
  await client.call(revokeApiKey, { params: { id } });
  const types = ["created", "updated", "suspended", "restored", "revoked"];
  expect(await note(id)).toEqual(types.map((type) => `api_key.${type}`));
});

test("an account says that it was funded", async () => {
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "500" });
  const { id } = await client.call(createGlobalAccount, { body: { currency: "USDC" } });
  const funding = { params: { id }, body: { currency: "USDC", amount: "20" } };
  // Reserves count at final blocks, so the gift takes a moment.
  await vi.waitFor(() => client.call(fundGlobalAccount, funding), {
    timeout: 30_000,
    interval: 100,
  });
  expect(await note(id)).toEqual(["global_account.funded"]);
});

test("an account says that it was renamed, frozen and closed", async () => {
  const { id } = await client.call(createGlobalAccount, { body: { currency: "USDC" } });
  await client.call(updateGlobalAccount, { params: { id }, body: { name: "Till" } });
  await client.call(freezeGlobalAccount, { params: { id }, body: { reason: "Audit" } });
  await client.call(closeGlobalAccount, { params: { id }, body: {} });
  expect(await note(id)).toEqual(Array.from({ length: 3 }, () => "global_account.updated"));
});

test("a request for approval says that it was made, and approved, declined or expired", async () => {
  const voter = await newMember(api, projectId, "admin");
  const required = { count: 1, roles: ["admin"], excludeMaker: true } as const;
  const ask = (id: string, expiresAt: Date) =>
    database.transaction((tx) =>
      services.decisions.open(tx, {
        ...{
          projectId,
          subject: { type: "test", id },
          digest: new Uint8Array(32),
          title: "Pay",
          lines: [],
        },
        ...{ maker: actor, required, expiresAt },
      }),
    );
  const [approved, declined, expired] = [
    await ask("1", LATER),
    await ask("2", LATER),
    await ask("3", new Date()),
  ];
  await vote(voter, approved);
  await vote(voter, declined, "decline");
  for (let turn = 0; turn < 2; turn += 1)
    await services.decisionRunner.run(`${projectId}/${expired}/decision`);
  expect(await note(approved)).toEqual(["approval.requested", "approval.approved"]);
  expect(await note(declined)).toEqual(["approval.requested", "approval.declined"]);
  expect(await note(expired)).toEqual(["approval.requested", "approval.expired"]);
});

test("a member says that the person joined, and a policy that it was changed", async () => {
  const guest = await api.signIn();
  const email = await api.verifiedEmail(guest);
  await withApproval(customer.session.account, (approval) =>
    client.call(createInvitation, {
      body: { email, role: "viewer", ...(approval ? { approval } : {}) },
    }),
  );
  const { text } = await database.prisma.mailOutbox.findFirstOrThrow({ where: { to: email } });
  const token = /\/join#([0-9A-Za-z]+)/.exec(text)?.[1] ?? "";
  await guest.client.call(acceptInvitation, { body: { token } });
  const { userId } = await services.auth.verifyAccessToken(guest.accessToken);
  expect(await note(userId)).toEqual(["member.joined"]);
  await client.call(updatePolicies, { body: { dailyCapUsd: "900" } });
  await withApproval(customer.session.account, (approval) =>
    client.call(putPolicy, {
      body: { scope: "project", baseVersion: 0, rules: {}, ...(approval ? { approval } : {}) },
    }),
  );
  expect((await note(projectId)).filter((type) => type === "policy.changed")).toHaveLength(2);
});

test("every other type is written by a test above, and its data is what the OpenAPI document says", () => {
  expectTypes(written, [
    "payout",
    "payout_schedule",
    "global_account",
    "api_key",
    "approval",
    "member",
    "policy",
  ]);
});

import { expect, test, vi } from "vitest";
import { revokeApiKey, updateApiKey } from "@/lib/contracts/api-keys";
import { EVENT_TYPES } from "@/lib/contracts/events";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { approvePayout } from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import { WEBHOOK_PAYLOADS } from "@/lib/contracts/webhook-payloads";
import { newId } from "@/lib/core/ids";
import type { SubStatus } from "@/lib/core/status";
import { doneBy } from "@/lib/modules/audit/service";
import { createLegRepository, type LegMove } from "@/lib/modules/operations/leg-repository";
import { acceptedLeg } from "@/lib/modules/operations/new-leg";
import { createOperationsRepository, type NewOperationRow } from "@/lib/modules/operations/repository";
import { createWaitingRepository } from "@/lib/modules/operations/waiting-repository";
import type { LegState } from "@/lib/modules/operations/summary";
import type { FullSchedule } from "@/lib/modules/payouts/schedules/payout-schedule";
import { createSchedulesRepository } from "@/lib/modules/payouts/schedules/repository";
import { createPrivacyRepository } from "@/lib/modules/privacy/repository";
import { EMPTY_PRIVATE_TRANSFER } from "@/lib/testing/private-transfer";
import { createQuotesRepository } from "@/lib/modules/quotes/repository";
import { testApi } from "@/lib/testing/api";
import { codesOf, fund, newCustomer } from "@/lib/testing/journey";
import { eventsOf, type WrittenEvent } from "@/lib/testing/project-events";
// Every type is written by the code that changes the state, over a real database; legs are moved as the driver moves them.
const ONE = 31337;
const LATER = new Date("2100-01-01T00:00:00Z");
const BEFORE = new Date("2020-01-01T00:00:00Z");
const ADDRESS: `0x${string}` = "0x00000000000000000000000000000000000000aa";

const api = await testApi();
const { services } = api;
const { database, sponsorship, ledger } = services;
const operations = createOperationsRepository(database, sponsorship);
const legs = createLegRepository(database, sponsorship);
const waiting = createWaitingRepository(database, sponsorship);
const quotes = createQuotesRepository(database);
const schedules = createSchedulesRepository(database);
const privacy = createPrivacyRepository(database);
const customer = await newCustomer(api);
const { client } = customer.session;
const key = await api.createKey(customer.session);
const actor = await services.apiKeys.verify(key.secret);
const { projectId } = actor;
const audit = (action: string, subject: string) => ({ ...doneBy(actor), action, subject, at: new Date() });

const written: WrittenEvent[] = [];
const note = async (objectId: string): Promise<string[]> => {
  const events = await eventsOf(database, objectId);
  written.push(...events);
  return events.map(({ type }) => type);
};
const token = services.registry.resolveToken(ONE, "USDC");
const request = { sources: [], destination: { token, recipient: ADDRESS }, slippageBps: 0 } as const;
const unpriced = {
  expiresAt: LATER.toISOString(),
  from: [],
  rate: null,
  fees: [],
  priceImpactBps: 0,
  slippageBps: 0,
  estimatedSeconds: 1,
  steps: [],
  warnings: [],
  alternatives: [],
};
const quoteTransfer = async () => {
  const transferId = newId("transfer");
  const own = { id: newId("quote"), projectId, kind: "transfer", transferId, retryOf: null, createdBy: "key_1" };
  const amounts = { amount: "1", amountBase: "1000000", minAmount: "1", minAmountBase: "1000000", decimals: 6 };
  const to = { chainId: ONE, address: ADDRESS, token, ...amounts };
  const said = {
    request,
    route: { legs: [] },
    response: { ...unpriced, quoteId: own.id, to },
    minimumBase: 1_000_000n,
    digest: new Uint8Array(32),
    once: null,
  };
  const quote = await quotes.insert({ ...own, ...said, createdAt: new Date(), expiresAt: LATER }, null);
  if (quote === null) throw new Error("The quote was not stored.");
  return { quote, transferId };
};
const operationOf = (id: string, subStatus: SubStatus = "prepared"): NewOperationRow => {
  const at = new Date();
  const own = { id, projectId, kind: "transfer", status: "pending", subStatus, createdBy: "key_1" } as const;
  const times = { acceptedAt: null, createdAt: at, updatedAt: at, expiresAt: null };
  return { ...own, ...times, request, quoted: { expectedBase: 1n }, minimumBase: 1n, retryOf: null, searchTerms: [] };
};
const routeLeg = {
  provider: "test",
  sourceIndex: 0,
  kind: "transfer",
  expectedOutBase: 1n,
  minOutBase: 1n,
  steps: [],
  fees: [],
  estimatedSeconds: 1,
  priceImpactBps: 0,
  plan: null,
} as const;
const gas = {
  callGasLimit: 1n,
  verificationGasLimit: 1n,
  preVerificationGas: 1n,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
};
const legOf = (operationId: string) =>
  acceptedLeg(
    { legId: newId("leg"), routeLeg, via: "user_operation", gas },
    {
      operationId,
      position: 0,
      walletId: "wal_x",
      source: { owner: ADDRESS, token, amountBase: 1n },
      destinationChainId: ONE,
      sponsor: { sponsorReservedWei: null, sponsorDay: null },
      now: new Date(),
    },
  );
const allowed = () => Promise.resolve("evl_1");
type Claim = Parameters<typeof operations.accept>[2]["claim"];
const startedAs = (awaited: boolean) => (id: string, transferId: string, claim: Claim) => {
  const own = { operation: { ...operationOf(id), acceptedAt: new Date() }, legs: [legOf(id)], awaited, transferId };
  const rows = { ...own, holds: [], costs: [], sentByWallets: [], audit: audit("operation.executed", id) };
  return operations.accept(rows, { funds: [], backing: null }, { claim, enforce: allowed }, new Date());
};
/** A transfer whose one leg goes through these states. It promises one base unit, and delivers `receivedBase` of them. */
const carryOut = async (path: readonly LegState[], receivedBase: bigint) => {
  const { quote, transferId } = await quoteTransfer();
  const id = newId("operation");
  await startedAs(false)(id, transferId, (tx) => quotes.claimOpen(tx, quote, id, null));
  await legs.begin(id, new Date());
  for (const to of path) {
    const leg = (await operations.find(id))?.legs[0];
    if (leg === undefined) throw new Error("The operation has no leg.");
    const change = to === "completed" ? { change: { receivedBase } } : {};
    const move: LegMove = { leg, to, ...change, event: { type: `leg.${to}` }, now: new Date() };
    expect(await legs.moveLeg(move)).not.toBeNull();
  }
  return { operation: await note(id), transfer: await note(transferId) };
};

test.each([
  ["completed", ["submitted", "source_seen", "completed"], 1n],
  ["partially_completed", ["submitted", "source_seen", "completed"], 0n],
  ["failed", ["failed"], 0n],
  ["refunded", ["submitted", "bridging", "refunding", "refund_seen", "refunded"], 0n],
] as const)(
  "an operation and its transfer say that they were created, began and are %s",
  async (end, path, received) => {
    const { operation, transfer } = await carryOut(path, received);
    for (const [name, types] of Object.entries({ operation, transfer })) {
      expect(types.slice(0, 2)).toEqual([`${name}.created`, `${name}.processing`]);
      expect(types.at(-1)).toBe(`${name}.${end}`);
      expect(types.filter((type) => type === `${name}.${end}`)).toHaveLength(1);
    }
  },
);

test("an operation and its transfer say that they were approved, or expired or were cancelled instead", async () => {
  const wait = async (expiresAt: Date) => {
    const { quote, transferId } = await quoteTransfer();
    const id = newId("operation");
    const claim = async (tx: Parameters<typeof quotes.claimOpen>[0]) => {
      await quotes.claimOpen(tx, quote, id, null);
    };
    await waiting.insertAwaiting({ ...operationOf(id, "awaiting_approval"), expiresAt }, claim, new Date());
    return { id, transferId };
  };
  const [approved, expired, cancelled] = [await wait(LATER), await wait(BEFORE), await wait(LATER)];
  await startedAs(true)(approved.id, approved.transferId, () => Promise.resolve(true));
  await waiting.expireDue(new Date(), 10);
  await waiting.cancel(cancelled.id, actor, new Date());
  for (const [ids, end] of [
    [approved, "approved"] as const,
    [expired, "expired"] as const,
    [cancelled, "cancelled"] as const,
  ]) {
    expect(await note(ids.id)).toEqual(["operation.created", `operation.${end}`]);
    expect(await note(ids.transferId)).toEqual(["transfer.created", `transfer.${end}`]);
  }
});

test("an operation and its transfer say that they were completed in part, where the notes of a private transfer come to different ends", async () => {
  const ids = { operationId: newId("operation"), id: newId("transfer") };
  const own = { projectId, kind: "private_transfer", createdBy: "key_1" } as const;
  const asset = services.registry.resolveToken(ONE, "USDC");
  const paid = { chainId: ONE, token: asset, tokenOut: asset, amountBase: 5n };
  const transfer = { ...EMPTY_PRIVATE_TRANSFER, ...own, ...ids, ...paid, walletId: "pw_1" };
  const request = {
    sources: [{ owner: ADDRESS, token: asset, amountBase: 5n }],
    destination: { token: asset, recipient: ADDRESS },
    slippageBps: 0,
  } as const;
  const amounts = { expectedBase: 5n, minimumBase: 5n, searchTerms: [], approvalUntil: null, retryOf: null };
  const asked = { ...doneBy(actor), action: "operation.executed" };
  await privacy.insertSpend(
    {
      operation: () => ({ ...own, ...amounts, id: ids.operationId, queue: "none", request, audit: asked }),
      transfer,
      steps: [],
      quote: null,
    },
    allowed,
    new Date(),
  );
  const states = [
    { status: "pending", subStatus: "prepared" },
    { status: "processing", subStatus: "queued" },
    { status: "partially_completed", subStatus: "partial" },
  ] as const;
  for (const [index, to] of states.slice(1).entries()) {
    const from = states.slice(index, index + 1);
    await privacy.moveOperation(
      { operationId: ids.operationId, from, to, event: `operation.${to.status}` },
      new Date(),
    );
  }
  for (const [id, name] of [[ids.operationId, "operation"] as const, [ids.id, "transfer"] as const])
    expect(await note(id)).toEqual(["created", "processing", "partially_completed"].map((what) => `${name}.${what}`));
});

test("an operation and its transfer say that they were approved by a code, or cancelled, before there was an operation", async () => {
  const [approved, cancelled] = [await quoteTransfer(), await quoteTransfer()];
  const approval = { actor, codeId: newId("otp"), now: new Date() };
  for (let turn = 0; turn < 2; turn += 1) await quotes.approve(approved.quote, approval);
  for (let turn = 0; turn < 2; turn += 1)
    await quotes.cancel(cancelled.quote, audit("transfer.cancelled", cancelled.transferId));
  expect(await note(approved.transferId)).toEqual(["transfer.created", "transfer.approved"]);
  expect(await note(cancelled.transferId)).toEqual(["transfer.created", "transfer.cancelled"]);
});

const open = (name: string): Promise<string> =>
  ledger.openAccount({ projectId, currency: "usdc", name, key: name, by: "test" });
const accounts = Promise.all(["payer", "payee", "frozen"].map(open));
const create = async (mode: "atomic" | "independent", recipients: readonly ("payee" | "frozen")[]) => {
  const [payer = "", payee = "", frozen = ""] = await accounts;
  const transfers = recipients.map((name) => ({
    recipientAccountId: name === "payee" ? payee : frozen,
    amount: "1",
    currency: "USDC",
  }));
  const input = { sourceAccountId: payer, transfers, mode, validateOnly: false, allowDuplicates: true, key: null };
  return (await services.payouts.createBetweenAccounts(actor, input)).payout.id;
};
const run = async (id: string): Promise<string[]> => {
  const { signal } = new AbortController();
  await database.prisma.payout.update({ where: { id }, data: { subStatus: "queued", expiresAt: null } });
  for (let turn = 0; turn < 2; turn += 1) await services.payoutRunner.run(id, signal);
  return note(id);
};

test("a payout says how far it has come, and which rows failed", async () => {
  const [payer = "", , frozen = ""] = await accounts;
  const funding = { projectId, to: payer, amountBase: 100n * 10n ** 18n, currency: "usdc", liabilitiesMaxBase: null };
  await ledger.fund({ ...funding, key: "every-type", by: "test" });
  const [paid, part, none] = [
    await create("atomic", ["payee"]),
    await create("independent", ["payee", "frozen"]),
    await create("atomic", ["frozen"]),
  ];
  await ledger.setStatus({ projectId, accountId: frozen, status: "frozen" });
  expect(await run(paid)).toEqual(["payout.created", "payout.processing", "payout.completed"]);
  expect((await run(part)).slice(2)).toEqual(["payout.item.failed", "payout.partially_completed"]);
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
    rows: 1,
    reference: null,
    startsAt: at,
    period: "day",
    timeZone: "UTC",
    endsAt: null,
    nextRunAt: at,
    digest: new Uint8Array(32),
    createdBy: "usr_1",
    approvedBy: "usr_1",
    createdAt: at,
    updatedAt: at,
  };
  await schedules.insert(schedule, audit("payout_schedule.created", schedule.id));
  const failure = { code: "forbidden", message: "No.", retryable: false };
  for (const status of ["missed", "started"] as const) {
    const scheduledAt = schedule.nextRunAt ?? at;
    const nextRunAt = new Date(scheduledAt.getTime() + 86_400_000);
    await schedules.claim(schedule, { scheduledAt, nextRunAt, status, failure: null }, null, at);
    schedule = { ...schedule, nextRunAt };
  }
  const [open] = await schedules.openRuns(10);
  if (open === undefined) throw new Error("The run was not taken.");
  await schedules.failed(open, { status: "refused", failure }, audit("payout_schedule.run_refused", schedule.id));
  expect(await note(schedule.id)).toEqual(["payout_schedule.run_missed", "payout_schedule.run_refused"]);
});

test("an API key says that it was created, updated and revoked", async () => {
  const { id } = await api.createKey(customer.session);
  await client.call(updateApiKey, { params: { id }, body: { name: "another" } });
  await client.call(revokeApiKey, { params: { id } });
  expect(await note(id)).toEqual(["api_key.created", "api_key.updated", "api_key.revoked"]);
});

test("an account says that it was funded", async () => {
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "500" });
  const { id } = await client.call(createGlobalAccount, { body: { currency: "USDC" } });
  const funding = { params: { id }, body: { currency: "USDC", amount: "20" } };
  // Reserves count at final blocks, so the gift takes a moment.
  await vi.waitFor(() => client.call(fundGlobalAccount, funding), { timeout: 30_000, interval: 100 });
  expect(await note(id)).toEqual(["global_account.funded"]);
});

test("every event type is written by a test above", () => {
  expect([...new Set(written.map(({ type }) => type))].sort()).toEqual([...EVENT_TYPES].sort());
});

test("the data of every event is what the OpenAPI document says, without a field more", () => {
  for (const { type, payload: data } of written) {
    const body = { id: newId("event"), type, sequence: 1, data };
    const schema = EVENT_TYPES.filter((known) => known === type).map((known) => WEBHOOK_PAYLOADS.get(known))[0];
    // Parsing drops what the schema does not know.
    expect(schema?.parse(body), type).toEqual(body);
  }
});

import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import type { Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import type { SubStatus } from "@/lib/core/status";
import { doneBy } from "@/lib/news/audit/service";
import { createLegRepository, type LegMove } from "@/lib/money/operations/step-repository";
import { acceptedLeg } from "@/lib/money/operations/new-operation";
import type { NewOperationRow } from "@/lib/money/operations/accept-repository";
import { createOperationsRepository } from "@/lib/money/operations/repository";
import { createWaitingRepository } from "@/lib/money/operations/waiting-repository";
import type { LegState } from "@/lib/money/operations/summary";
import { createPrivacyRepository } from "@/lib/money/privacy/repository";
import { EMPTY_PRIVATE_TRANSFER } from "@/lib/dev/testing/private-transfer";
import { createQuotesRepository } from "@/lib/money/quotes/repository";
import { testApi } from "@/lib/dev/testing/api";
import { newCustomer } from "@/lib/dev/testing/journey";
import { eventsOf, expectTypes, type WrittenEvent } from "@/lib/dev/testing/project-events";
// Each type is written by the code that changes the state, with a real database. Legs are moved
// like the driver moves them.
const ONE = 31337;
const LATER = new Date("2100-01-01T00:00:00Z");
const BEFORE = new Date("2020-01-01T00:00:00Z");
const ADDRESS: `0x${string}` = "0x00000000000000000000000000000000000000aa";

const api = await testApi();
const { services } = api;
const { database, sponsorship } = services;
const operations = createOperationsRepository(database, sponsorship);
const legs = createLegRepository(database, sponsorship);
const waiting = createWaitingRepository(database, sponsorship);
const quotes = createQuotesRepository(database);
const privacy = createPrivacyRepository(database);
const customer = await newCustomer(api);
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
const token = services.registry.resolveToken(ONE, "USDC");
const request = {
  sources: [],
  destination: { token, recipient: ADDRESS },
  slippageBps: 0,
} as const;
const unpriced = {
  expiresAt: LATER.toISOString(),
  from: [],
  routeId: null,
  rate: null,
  fees: [],
  priceImpactBps: 0,
  slippageBps: 0,
  estimatedSeconds: 1,
  steps: [],
  warnings: [],
  votes: null,
  alternatives: [],
};
const quoteTransfer = async () => {
  const transferId = newId("transfer");
  const own = {
    id: newId("quote"),
    projectId,
    kind: "transfer",
    transferId,
    retryOf: null,
    createdBy: "key_1",
  };
  const amounts = {
    amount: "1",
    amountBase: "1000000",
    minAmount: "1",
    minAmountBase: "1000000",
    decimals: 6,
  };
  const to = { chainId: ONE, address: ADDRESS, token, ...amounts };
  const said = {
    request,
    route: { legs: [] },
    response: { ...unpriced, id: own.id, quoteId: own.id, to },
    minimumBase: 1_000_000n,
    digest: new Uint8Array(32),
    idempotency: null,
  };
  const quote = await quotes.insert(
    { ...own, ...said, createdAt: new Date(), expiresAt: LATER },
    null,
  );
  if (quote === null) throw new Error("The quote was not stored.");
  return { quote, transferId };
};
const operationOf = (id: string, subStatus: SubStatus = "prepared"): NewOperationRow => {
  const at = new Date();
  const own = {
    id,
    projectId,
    kind: "transfer",
    status: "pending",
    subStatus,
    createdBy: "key_1",
  } as const;
  const times = { acceptedAt: null, createdAt: at, updatedAt: at, expiresAt: null };
  return {
    ...own,
    ...times,
    request,
    quoted: { expectedBase: 1n },
    minimumBase: 1n,
    retryOf: null,
    searchTerms: [],
  };
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
      projectId,
      operationId,
      position: 0,
      walletId: "wal_x",
      source: { owner: ADDRESS, token, amountBase: 1n },
      destinationChainId: ONE,
      sponsor: { sponsorReservedWei: null, sponsorDay: null },
      now: new Date(),
    },
  );
const allowed = () =>
  Promise.resolve({ evaluationId: "evl_1", store: () => Promise.resolve() });
type Take = Extract<Parameters<typeof operations.accept>[1]["claim"], { by: "sql" }>["take"];
const startedAs = (awaited: boolean) => (id: string, transferId: string, take: Take) => {
  const own = {
    operation: { ...operationOf(id), acceptedAt: new Date() },
    legs: [legOf(id)],
    awaited,
    transferId,
  };
  const rows = {
    ...own,
    holds: [],
    costs: [],
    sentByWallets: [],
    audit: audit("operation.executed", id),
  };
  return operations.accept(rows, {
    funds: [],
    backing: null,
    claim: { by: "sql", take },
    enforce: allowed,
    now: new Date(),
  });
};
/**
 * A transfer with one leg that passes through these states. It promises one base unit and delivers
 * `receivedBase`.
 */
const carryOut = async (path: readonly LegState[], receivedBase: bigint) => {
  const { quote, transferId } = await quoteTransfer();
  const id = newId("operation");
  await startedAs(false)(id, transferId, (sql) => quotes.claimOpen(sql, quote, id, null));
  await legs.begin({ projectId, id }, new Date());
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
    const claim = async (tx: Tx) => {
      await quotes.claimOpen(sqlOf(tx), quote, id, null);
    };
    await waiting.insertAwaiting(
      { ...operationOf(id, "awaiting_approval"), expiresAt },
      claim,
      new Date(),
    );
    return { id, transferId };
  };
  const [approved, expired, cancelled] = [
    await wait(LATER),
    await wait(BEFORE),
    await wait(LATER),
  ];
  await startedAs(true)(approved.id, approved.transferId, () => Promise.resolve(true));
  await waiting.expireDue(new Date(), 10);
  await waiting.cancel({ projectId, id: cancelled.id }, actor, new Date());
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
  const amounts = {
    expectedBase: 5n,
    minimumBase: 5n,
    searchTerms: [],
    approvalUntil: null,
    retryOf: null,
  };
  const asked = { ...doneBy(actor), action: "operation.executed" };
  await privacy.insertSpend(
    {
      operation: () => ({
        ...own,
        ...amounts,
        id: ids.operationId,
        queue: "none",
        request,
        audit: asked,
      }),
      transfer,
      steps: [],
      quote: null,
    },
    () => Promise.resolve("evl_1"),
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
      { projectId, operationId: ids.operationId, from, to, event: `operation.${to.status}` },
      new Date(),
    );
  }
  for (const [id, name] of [
    [ids.operationId, "operation"] as const,
    [ids.id, "transfer"] as const,
  ])
    expect(await note(id)).toEqual(
      ["created", "processing", "partially_completed"].map((what) => `${name}.${what}`),
    );
});

test("an operation and its transfer say that they were approved by a code, or cancelled, before there was an operation", async () => {
  const [approved, cancelled] = [await quoteTransfer(), await quoteTransfer()];
  const approval = { actor, codeId: newId("otp"), means: "code", now: new Date() };
  for (let turn = 0; turn < 2; turn += 1) await quotes.approve(approved.quote, approval);
  for (let turn = 0; turn < 2; turn += 1)
    await quotes.cancel(cancelled.quote, audit("transfer.cancelled", cancelled.transferId));
  expect(await note(approved.transferId)).toEqual(["transfer.created", "transfer.approved"]);
  expect(await note(cancelled.transferId)).toEqual(["transfer.created", "transfer.cancelled"]);
});

test("every type of an operation and a transfer is written by a test above, and its data is what the OpenAPI document says", () => {
  expectTypes(written, ["operation", "transfer"]);
});

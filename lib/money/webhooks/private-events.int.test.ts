import { afterAll, describe, expect, test, vi } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { listEvents } from "@/lib/contracts/events";
import {
  createWebhookEndpoint,
  replayWebhookEvents,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import {
  getDelivery,
  listDeliveries,
  resendDelivery,
} from "@/lib/contracts/webhook-deliveries";
import type { Actor } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import type { Tx } from "@/lib/platform/db/client";
import { doneBy } from "@/lib/news/audit/service";
import { PRIVATE_KINDS } from "@/lib/contracts/privacy-records";
import type { PrivateTransfer } from "@/lib/money/privacy/rows";
import { createPrivacyRepository } from "@/lib/money/privacy/repository";
import { testApi } from "@/lib/dev/testing/api";
import { EMPTY_PRIVATE_TRANSFER } from "@/lib/dev/testing/private-transfer";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";

type PrivateKind = (typeof PRIVATE_KINDS)[number];

const SCOPES = [
  "webhooks:read",
  "webhooks:write",
  "operations:read",
  "transfers:read",
] as const;
const TYPES = ["created", "processing", "completed"] as const;
/**
 * Event types of movements that the treasury executes. This file only lets them wait and cancels
 * them.
 */
const TREASURY_TYPES = ["created", "cancelled"] as const;
const WAIT = { timeout: 15_000, interval: 20 };
const ADDRESS = "0x00000000000000000000000000000000000000aa";

const api = await testApi({ devnet: false });
const { services } = api;
const { database } = services;
const session = await api.signIn();
const [blind, seeing] = [
  await api.createKey(session, { scopes: [...SCOPES] }),
  await api.createKey(session, { scopes: [...SCOPES, "privacy:read"] }),
];
const actor: Actor = await services.apiKeys.verify(seeing.secret);
const { projectId } = actor;
const worker = services.startWebhooks("private-events");
afterAll(() => worker.stop());
const [plain, full] = [await webhookReceiver(), await webhookReceiver()];
const privacy = createPrivacyRepository(database);

const asset = services.registry.resolveToken(31337, "USDC");
const request = () =>
  ({
    sources: [{ owner: ADDRESS, token: asset, amountBase: 5n }],
    destination: { token: asset, recipient: ADDRESS },
    slippageBps: 0,
  }) as const;
const transferOf = (kind: PrivateKind, operationId: string): PrivateTransfer => ({
  ...EMPTY_PRIVATE_TRANSFER,
  projectId,
  id: newId("transfer"),
  operationId,
  kind,
  walletId: "pw_1",
  chainId: 31337,
  token: asset,
  tokenOut: asset,
  amountBase: 5n,
  ...(kind === "public_exit" ? { noteId: "1" } : {}),
  ...(kind === "private_transfer" ? { toAddress: ADDRESS } : {}),
  createdBy: "key_1",
});

interface Moved {
  readonly operationId: string;
  readonly transferId: string;
}

/** A movement that spends notes runs to its end. */
const spend = async (kind: PrivateKind): Promise<Moved> => {
  const operationId = newId("operation");
  const transfer = transferOf(kind, operationId);
  const audit = { ...doneBy(actor), action: "operation.executed", data: {} };
  const amounts = { expectedBase: 5n, minimumBase: 5n };
  const own = {
    id: operationId,
    projectId,
    kind,
    queue: "privacy",
    createdBy: "key_1",
    approvalUntil: null,
    retryOf: null,
  };
  const operation = () => ({ ...own, ...amounts, request: request(), searchTerms: [], audit });
  const insert = { operation, transfer, steps: [], quote: null };
  await privacy.insertSpend(insert, () => Promise.resolve("evl_1"), new Date());
  const steps = [
    [
      { status: "pending", subStatus: "prepared" },
      { status: "processing", subStatus: "source_submitted" },
    ],
    [
      { status: "processing", subStatus: "source_submitted" },
      { status: "completed", subStatus: "full" },
    ],
  ] as const;
  for (const [from, to] of steps)
    await privacy.moveOperation(
      {
        projectId: own.projectId,
        operationId,
        from: [from],
        to,
        event: `operation.${to.status}`,
      },
      new Date(),
    );
  return { operationId, transferId: transfer.id };
};

/** A movement of the treasury waits for its code, and is then cancelled. */
const treasury = async (kind: PrivateKind): Promise<Moved> => {
  const transfer = transferOf(kind, "");
  const wallet = { id: "wal_1", address: ADDRESS, name: "Treasury" } as never;
  const { id: operationId } = await services.operations.startAwaiting({
    projectId,
    kind,
    createdBy: "key_1",
    origin: { quoteId: transfer.id, transferId: transfer.id, retryOf: null },
    request: request(),
    wallets: [wallet],
    expectedBase: 5n,
    minimumBase: 5n,
    expiresAfterSeconds: 3600,
    claim: (tx: Tx, id: string) => privacy.insertTransfer(tx, { ...transfer, operationId: id }),
  });
  await services.operations.cancel(actor, operationId);
  return { operationId, transferId: transfer.id };
};

const isTreasury = (kind: PrivateKind): boolean => kind === "shield" || kind === "public_exit";
const expectedOf = (kind: PrivateKind): string[] =>
  (isTreasury(kind) ? TREASURY_TYPES : TYPES).flatMap((what) => [
    `operation.${what}`,
    `transfer.${what}`,
  ]);
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "no error",
    (error: unknown) =>
      error instanceof ApiError ? `${String(error.status)} ${error.code}` : "another error",
  );

/**
 * Waits until earlier events have their numbers; otherwise they would go to the endpoints in the
 * middle of a test.
 */
await vi.waitFor(
  async () => expect(await database.prisma.eventOutbox.count({ where: { projectId } })).toBe(0),
  WAIT,
);

const endpoint = (events: string[], includePrivate: boolean) =>
  session.client.call(createWebhookEndpoint, {
    body: { url: includePrivate ? full.url : plain.url, events, includePrivate },
  });
const [plainEndpoint, fullEndpoint] = [
  await endpoint(["*"], false),
  await endpoint(["*"], true),
];
const ends = [
  [plain, plainEndpoint],
  [full, fullEndpoint],
] as const;

describe.each(PRIVATE_KINDS)("events of a movement of the kind %s", (kind) => {
  test("name the operation and the transfer for those who may read privacy, and for others id, type and sequence alone", async () => {
    for (const [receiver] of ends) receiver.received.length = 0;
    const after = (await seeing.client.call(listEvents, { query: {} })).lastSequence;
    const moved = await (isTreasury(kind) ? treasury(kind) : spend(kind));
    const expected = expectedOf(kind);
    for (const [receiver] of ends)
      await vi.waitFor(() => expect(receiver.received).toHaveLength(expected.length), WAIT);
    const bodiesOf = (receiver: typeof plain) =>
      receiver.received
        .map(({ body }) => body)
        .sort((one, other) => Number(one.sequence) - Number(other.sequence));
    const bodies = bodiesOf(full);
    expect(bodies.map(({ type }) => type)).toEqual(expected);
    for (const body of bodies) {
      const isTransfer = String(body.type).startsWith("transfer.");
      expect(body.objectId).toBe(isTransfer ? moved.transferId : moved.operationId);
      expect(body.data).toMatchObject({ ...moved, kind });
    }
    const short = bodies.map(({ id, type, sequence }) => ({ id, type, sequence }));
    expect(bodiesOf(plain)).toEqual(short);
    expect((await blind.client.call(listEvents, { query: { after } })).data).toEqual(short);
    expect((await seeing.client.call(listEvents, { query: { after } })).data).toEqual(bodies);
  });
});

const latest = async (endpointId: string) => {
  const { data } = await blind.client.call(listDeliveries, {
    params: { id: endpointId },
    query: {},
  });
  const [delivery] = data;
  if (delivery === undefined) throw new Error("There is no delivery.");
  return delivery;
};
const bodyAs = async (key: typeof blind, id: string) => {
  const { requests } = await key.client.call(getDelivery, { params: { id } });
  const [first] = requests;
  return {
    request: JSON.parse(first?.request.body ?? "{}") as object,
    response: first?.response?.body,
  };
};

test("deliveries of private events are stored with their details, which a key without privacy:read does not see", async () => {
  full.answer((response, { raw }) => response.writeHead(200).end(raw));
  const before = (await latest(fullEndpoint.id)).sequence;
  const { operationId } = await spend("unshield");
  const { id, eventId, type, sequence } = await vi.waitFor(async () => {
    const delivery = await latest(fullEndpoint.id);
    expect(delivery).toMatchObject({
      sequence: before + expectedOf("unshield").length,
      status: "delivered",
    });
    return delivery;
  }, WAIT);
  const shown = await bodyAs(seeing, id);
  expect(shown.request).toMatchObject({ id: eventId, data: { operationId } });
  expect(shown.response).toContain(operationId);
  expect(await bodyAs(blind, id)).toEqual({
    request: { id: eventId, type, sequence },
    response: "",
  });
  const listed = await blind.client.call(listDeliveries, {
    params: { id: fullEndpoint.id },
    query: {},
  });
  expect(JSON.stringify(listed)).not.toContain(operationId);
});

test("a resent or replayed private event has the same details, and a test event has none", async () => {
  expect(ends).toHaveLength(2);
  for (const [receiver, { id: endpointId }] of ends) {
    // Deliveries of the test before this one may still be on their way to this receiver.
    await vi.waitFor(
      async () => expect((await services.webhooks.get(projectId, endpointId)).pending).toBe(0),
      WAIT,
    );
    receiver.received.length = 0;
    const delivery = await latest(endpointId);
    await blind.client.call(resendDelivery, { params: { id: delivery.id } });
    const { sequence } = delivery;
    await session.client.call(replayWebhookEvents, {
      params: { id: endpointId },
      body: { from: sequence, to: sequence },
    });
    await blind.client.call(testWebhookEndpoint, { params: { id: endpointId } });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(3), WAIT);
    const ofEvent = receiver.received.filter(({ body }) => body.type === delivery.type);
    expect(ofEvent).toHaveLength(2);
    for (const { body } of ofEvent)
      expect("data" in body && "objectId" in body).toBe(receiver === full);
    const tested = receiver.received.find(({ body }) => body.type === "webhook.test");
    expect(tested?.body).toMatchObject({ sequence: 0, objectId: endpointId, data: {} });
  }
});

test("a key without privacy:read cannot change the URL that gets private details", async () => {
  const { id } = await seeing.client.call(createWebhookEndpoint, {
    body: { url: full.url, events: ["operation.*"], includePrivate: true },
  });
  const change = (
    key: typeof blind,
    body: { url?: string; includePrivate?: boolean; description?: string },
  ) => codeOf(key.client.call(updateWebhookEndpoint, { params: { id }, body }));
  const elsewhere = plain.url.replace("/hook", "/elsewhere");
  expect(await change(blind, { url: elsewhere })).toBe("403 insufficient_scope");
  expect(await change(blind, { url: full.url, description: "The same URL" })).toBe("no error");
  expect(await change(seeing, { url: elsewhere })).toBe("403 forbidden");
  expect(await change(blind, { url: full.url, includePrivate: false })).toBe("no error");
  expect(await change(blind, { includePrivate: true })).toBe("403 insufficient_scope");
});

import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  createNotificationChannel,
  deleteNotificationChannel,
  listNotificationChannels,
  testNotificationChannel,
  updateNotificationChannel,
} from "@/lib/contracts/notification-channels";
import { type NotificationKind } from "@/lib/contracts/notifications";
import { ApiError } from "@/lib/api-client/client";
import { newId } from "@/lib/core/ids";
import { type NewEvent, recordEventsOn } from "@/lib/news/events/service";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi } from "@/lib/dev/testing/api";
import { newMember } from "@/lib/dev/testing/voters";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";
import { createMaking } from "./make";
import { toChannel, toChannels } from "./serializer";

const DAY_MS = 24 * 3_600_000;
const moved = { ms: 0 };
const clock = { now: () => new Date(Date.now() + moved.ms) };
const api = await testApi({ devnet: false, overrides: { clock } });
const { services } = api;
const { database, channelDelivery } = services;
/** Plays the incoming webhooks of both chats. */
const chat = await webhookReceiver();

const owner = await api.signIn();
const ownerEmail = await api.verifiedEmail(owner);
const me = await owner.client.call(getMe);
const projectId = me.projects[0]?.id ?? "";
/** Calls the service directly, because a moved clock ends the session of the API. */
const actor = {
  type: "user",
  userId: me.id,
  sessionId: "ses_1",
  projectId,
  role: "owner",
} as const;
const worker = services.startWebhooks("worker-of-this-test");
afterAll(() => worker.stop());

const { makeDue } = createMaking({
  database,
  clock,
  log: { error: () => undefined },
  decisions: { eligible: () => Promise.resolve(new Set<string>()) },
  worthOf: () => Promise.resolve(25_000),
  nextActionOf: () => Promise.resolve(null),
});

beforeEach(async () => {
  moved.ms = 0;
  chat.received.length = 0;
  chat.answer((response) => void response.writeHead(200).end("ok"));
  await asOwner(
    services.config.databaseUrl,
    "TRUNCATE notification, notification_box, notification_due, notification_channel_message, notification_channel, job, mail_outbox",
  );
});

const SECRET = "/T000/B000/very-secret";

type Input = Partial<{
  service: "slack" | "teams";
  kinds: NotificationKind[];
  includeAmounts: boolean;
}>;

/** Adds a channel; the owner's wallet signs the approval. */
const channelOf = async (input: Input = {}) => {
  const body = {
    service: "slack" as const,
    name: "Treasury room",
    address: `${chat.url}${SECRET}`,
    kinds: ["operation_failed", "large_deposit"] as NotificationKind[],
    ...input,
  };
  const asked = await owner.client.call(createNotificationChannel, { body }).then(
    () => null,
    (error: unknown) => (error instanceof ApiError ? error : null),
  );
  expect(asked?.code).toBe("approval_required");
  const approvalId = String((asked?.body as { approvalId?: string } | undefined)?.approvalId);
  const signature = await owner.account.signMessage({ message: asked?.message ?? "" });
  return owner.client.call(createNotificationChannel, {
    body: { ...body, approval: { approvalId, signature } },
  });
};

const failed = {
  type: "operation.failed",
  data: {
    kind: "swap",
    failure: { code: "x", message: "It held 560 USDC. The money is back." },
  },
} as const;
const deposit = {
  type: "deposit.credited",
  data: { chainId: 1, amount: "25000", token: { symbol: "USDC", address: "0x1" } },
} as const;

type Happened = Pick<NewEvent, "type"> & Partial<NewEvent>;

/** Writes and numbers events, which queues them for notifications. */
const record = async (...events: readonly Happened[]): Promise<void> => {
  const full = events.map((event) => ({
    projectId,
    objectId: newId("operation"),
    data: {},
    at: clock.now(),
    ...event,
  }));
  await database.rawTransaction((sql) => recordEventsOn(sql, full));
  await vi.waitFor(async () => expect(await database.prisma.eventOutbox.count()).toBe(0), {
    timeout: 15_000,
    interval: 20,
  });
};
const happen = async (...events: readonly Happened[]): Promise<void> => {
  await record(...events);
  await makeDue();
};

/** Runs one turn of every message's job. */
const deliver = async () => {
  const jobs = await database.prisma.job.findMany({
    where: { queue: "notification_channel" },
    orderBy: { id: "asc" },
  });
  const turns = [];
  for (const { id } of jobs)
    turns.push(await channelDelivery.deliver(id, AbortSignal.timeout(10_000)));
  return turns;
};
const waiting = () => database.prisma.notificationChannelMessage.count();
const only = async () => {
  const { data } = toChannels(await services.notificationChannels.list(actor));
  expect(data).toHaveLength(1);
  return data[0];
};
const mails = async () =>
  (await database.prisma.mailOutbox.findMany({ where: { to: ownerEmail } })).map(
    ({ subject }) => subject,
  );

test("a Slack channel without amounts gets a title and a link, and no amount or failure text", async () => {
  await channelOf();
  await happen(failed, deposit);
  expect(await waiting()).toBe(2);
  // One request holds both; the second message's job finds nothing.
  expect(await deliver()).toEqual([{ done: true }, { done: true }]);
  expect(chat.received).toHaveLength(1);
  const { path, body, raw } = chat.received[0] ?? { body: {}, raw: "", path: "" };
  expect(path).toBe(`/hook${SECRET}`);
  expect(body).toMatchObject({
    text: expect.stringContaining("2 notifications of") as string,
    blocks: [{ type: "section" }, { type: "section" }, { type: "context" }],
  });
  expect(raw).toContain("Swap failed");
  expect(raw).toContain("A deposit arrived");
  expect(raw).toContain(`${services.config.publicUrl}/activity/`);
  expect(raw).not.toMatch(/560|25,?000|USDC/);
  expect(await waiting()).toBe(0);
  expect(await only()).toMatchObject({ lastResult: { statusCode: 200, error: null } });
});

test("a Teams channel with amounts gets an adaptive card; a private movement stays without details", async () => {
  await channelOf({ service: "teams", includeAmounts: true });
  await happen(deposit, { ...failed, private: true, data: { ...failed.data, kind: "shield" } });
  await deliver();
  const { body, raw } = chat.received[0] ?? { body: {}, raw: "" };
  expect(body).toMatchObject({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: { type: "AdaptiveCard" },
      },
    ],
  });
  expect(raw).toContain("25,000.00 USDC arrived");
  expect(raw).toContain("Private operation failed");
  expect(raw).not.toContain("560");
});

test("a chat's markup in a name is shown as text, so nobody can mention a whole workspace", async () => {
  await channelOf({ kinds: ["key_created"] });
  await happen({
    type: "api_key.created",
    objectId: newId("apiKey"),
    data: { name: "<!channel> & co", prefix: "cw", last4: "abcd" },
  });
  await deliver();
  expect(chat.received[0]?.raw).toContain("&lt;!channel&gt; &amp; co");
  expect(chat.received[0]?.raw).not.toContain("<!channel>");
});

test("a kind that was not chosen, or that happened before the channel, is not posted", async () => {
  await record(deposit, failed);
  await channelOf({ kinds: ["operation_failed"] });
  await makeDue();
  await happen(deposit);
  expect(await waiting()).toBe(0);
});

test("429 waits as long as Retry-After says, a 5xx is tried again, and then it is posted once", async () => {
  await channelOf();
  chat.answer((response, _post, turn) => {
    if (turn === 1) response.writeHead(429, { "retry-after": "120" }).end("slow down");
    else if (turn === 2) response.writeHead(503).end();
    else response.writeHead(200).end("ok");
  });
  await happen(failed);
  const [limited] = await deliver();
  expect(limited).toMatchObject({ done: false });
  expect((limited as { againInMs: number }).againInMs).toBeGreaterThanOrEqual(120_000);
  expect(await only()).toMatchObject({
    failingSince: expect.any(String) as string,
    lastResult: { statusCode: 429, error: "It answered 429: slow down" },
  });
  // Another job of the channel does not send before that time either.
  await happen(failed);
  expect(await deliver()).toEqual([
    { done: false, againInMs: 1500 },
    { done: false, againInMs: 1500 },
  ]);
  expect(chat.received).toHaveLength(1);
  moved.ms += 121_000;
  expect((await deliver())[0]).toMatchObject({ done: false });
  expect(chat.received).toHaveLength(2);
  moved.ms += 3_600_000;
  await deliver();
  expect(chat.received).toHaveLength(3);
  expect(await waiting()).toBe(0);
  expect(await only()).toMatchObject({ failingSince: null, status: "active" });
});

test.each([404, 410])(
  "an address that answers %i is gone: the channel is off at once, and owners get a mail",
  async (status) => {
    await channelOf();
    chat.answer((response) => void response.writeHead(status).end("no_service"));
    await happen(failed);
    expect(await deliver()).toEqual([{ done: true }]);
    expect(await only()).toMatchObject({ status: "disabled", disabledReason: "gone" });
    expect(await mails()).toContain("A chat channel was turned off");
    await happen(failed);
    expect(await waiting()).toBe(0);
  },
);

test("a channel that fails for five days is turned off, and a person turns it on again", async () => {
  const { id } = await channelOf();
  chat.answer((response) => void response.writeHead(500).end());
  await happen(failed);
  await deliver();
  moved.ms += 4 * DAY_MS;
  expect((await deliver())[0]).toMatchObject({ done: false });
  expect(await only()).toMatchObject({ status: "active" });
  moved.ms += 1.1 * DAY_MS;
  expect(await deliver()).toEqual([{ done: true }]);
  expect(await only()).toMatchObject({ status: "disabled", disabledReason: "failing" });
  expect(await waiting()).toBe(0);
  const on = toChannel(
    await services.notificationChannels.update(actor, id, { status: "active" }),
  );
  expect(on).toMatchObject({ status: "active", disabledReason: null, failingSince: null });
});

test("a test message is posted at once, and its failure is shown without turning the channel off", async () => {
  const { id } = await channelOf();
  const params = { id };
  expect(await owner.client.call(testNotificationChannel, { params })).toMatchObject({
    lastResult: { statusCode: 200, error: null },
  });
  expect(chat.received[0]?.raw).toContain("Test: notifications of this project");
  chat.answer((response) => void response.writeHead(404).end("no_team"));
  expect(await owner.client.call(testNotificationChannel, { params })).toMatchObject({
    status: "active",
    lastResult: { statusCode: 404, error: "It answered 404: no_team" },
  });
});

test("a paused channel posts nothing, and messages that waited are dropped", async () => {
  const { id } = await channelOf();
  await happen(failed);
  await owner.client.call(updateNotificationChannel, {
    params: { id },
    body: { status: "paused" },
  });
  await happen(failed);
  expect(await waiting()).toBe(1);
  expect(await deliver()).toEqual([{ done: true }]);
  expect(chat.received).toHaveLength(0);
  expect(await waiting()).toBe(0);
});

test("no answer, audit row or table has the address in clear text, and removal deletes it", async () => {
  const { id, ...made } = await channelOf();
  expect(made.address).toMatch(/^127\.0\.0\.1:\d+\/…cret$/);
  const texts = await Promise.all(
    ["notification_channel", "audit_event", "approval", "mail_outbox"].map(async (name) => {
      const { rows } = await database.pool.query<{ text: string }>(
        `SELECT t::text AS text FROM ${name} t`,
      );
      return rows.map(({ text }) => text).join("\n");
    }),
  );
  expect(texts.join("\n")).not.toContain("very-secret");
  expect(await mails()).toContain("Notifications of your project go to a chat channel");
  await owner.client.call(deleteNotificationChannel, { params: { id } });
  expect(await database.prisma.notificationChannel.count()).toBe(0);
});

test("amounts and another address need an approval; a name does not", async () => {
  const { id } = await channelOf();
  const change = (body: object) =>
    owner.client.call(updateNotificationChannel, { params: { id }, body }).then(
      () => "done",
      (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
    );
  expect(await change({ name: "Ops" })).toBe("done");
  expect(await change({ includeAmounts: true })).toBe("approval_required");
  expect(await change({ address: `${chat.url}/other` })).toBe("approval_required");
});

test("an address inside the service's network is refused before anything is asked", async () => {
  const body = {
    service: "slack" as const,
    name: "Inside",
    address: "http://169.254.169.254/latest/meta-data",
    kinds: ["operation_failed" as const],
  };
  await expect(owner.client.call(createNotificationChannel, { body })).rejects.toMatchObject({
    code: "invalid_request",
  });
});

let operator: Awaited<ReturnType<typeof newMember>>;
beforeAll(async () => {
  operator = await newMember(api, projectId, "operator");
});

test("an operator may not read or add channels", async () => {
  await expect(operator.client.call(listNotificationChannels)).rejects.toMatchObject({
    code: "forbidden",
  });
});

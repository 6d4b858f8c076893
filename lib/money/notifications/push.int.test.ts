import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  getNotificationPreferences,
  putNotificationPreferences,
} from "@/lib/contracts/notifications";
import {
  createPushSubscription,
  deletePushSubscription,
  listPushSubscriptions,
} from "@/lib/contracts/push";
import { newId } from "@/lib/core/ids";
import { type NewEvent, recordEventsOn } from "@/lib/news/events/service";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi } from "@/lib/dev/testing/api";
import { testKey } from "@/lib/dev/testing/factories";
import { createMaking } from "./make";

const api = await testApi({ devnet: false });
const { services } = api;
const { database, pushDelivery } = services;
const privateKey = testKey();
const owner = await api.signIn(privateKey);
const me = await owner.client.call(getMe);
const projectId = me.projects[0]?.id ?? "";
const worker = services.startWebhooks("worker-of-this-test");

interface Received {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}
const played = {
  status: 201,
  headers: {} as Record<string, string>,
  received: [] as Received[],
};
/** Plays a browser's push service. */
const service = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    played.received.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(played.status, played.headers).end();
  });
});
await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
const { port } = service.address() as AddressInfo;
afterAll(async () => {
  service.close();
  await worker.stop();
});

/** A browser: it has the private key and decrypts what the push service passes on (RFC 8291). */
const newBrowser = () => {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  const auth = randomBytes(16);
  const decrypt = (message: Buffer): unknown => {
    const salt = message.subarray(0, 16);
    const length = message[20] ?? 0;
    const sender = message.subarray(21, 21 + length);
    const sealed = message.subarray(21 + length);
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), pair.getPublicKey(), sender]);
    const secret = hkdfSync("sha256", pair.computeSecret(sender), auth, info, 32);
    const derive = (name: string, size: number): Buffer =>
      Buffer.from(
        hkdfSync(
          "sha256",
          Buffer.from(secret),
          salt,
          Buffer.from(`Content-Encoding: ${name}\0`),
          size,
        ),
      );
    const open = createDecipheriv("aes-128-gcm", derive("aes128gcm", 16), derive("nonce", 12));
    open.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([open.update(sealed.subarray(0, -16)), open.final()]);
    return JSON.parse(plain.subarray(0, -1).toString("utf8"));
  };
  const subscription = {
    endpoint: `http://127.0.0.1:${String(port)}/send/${randomBytes(8).toString("hex")}`,
    keys: {
      p256dh: pair.getPublicKey().toString("base64url"),
      auth: auth.toString("base64url"),
    },
  };
  return { subscription, decrypt };
};

const { makeDue } = createMaking({
  database,
  clock: { now: () => new Date() },
  log: { error: () => undefined },
  decisions: { eligible: () => Promise.resolve(new Set<string>()) },
  worthOf: () => Promise.resolve(25_000),
  nextActionOf: () => Promise.resolve(null),
});

const happen = async (
  ...events: readonly (Pick<NewEvent, "type"> & Partial<NewEvent>)[]
): Promise<void> => {
  const full = events.map((event) => ({
    projectId,
    objectId: newId("operation"),
    data: {},
    at: new Date(),
    ...event,
  }));
  await database.rawTransaction((sql) => recordEventsOn(sql, full));
  await vi.waitFor(async () => expect(await database.prisma.eventOutbox.count()).toBe(0), {
    timeout: 15_000,
    interval: 20,
  });
  await makeDue();
};
const waits = {
  type: "operation.created",
  data: { kind: "swap", subStatus: "awaiting_approval" },
} as const;
const deposit = {
  type: "deposit.credited",
  data: { chainId: 1, amount: "25000", token: { symbol: "USDC", address: "0x1" } },
} as const;

const jobs = () => database.prisma.job.findMany({ where: { queue: "push" } });
const deliver = async () => {
  const turns = [];
  for (const { id } of await jobs())
    turns.push(await pushDelivery.deliver(id, AbortSignal.timeout(10_000)));
  return turns;
};

beforeEach(async () => {
  played.status = 201;
  played.headers = {};
  played.received.length = 0;
  await asOwner(
    services.config.databaseUrl,
    "TRUNCATE notification, notification_box, notification_due, notification_preference, push_subscription, job",
  );
});

test("nothing is pushed before push was turned on in a browser", async () => {
  await happen(waits);
  expect(await jobs()).toEqual([]);
});

test("a waiting approval reaches the browser encrypted, with a title and a link, and no amount", async () => {
  const browser = newBrowser();
  const made = await owner.client.call(createPushSubscription, { body: browser.subscription });
  expect(made).toMatchObject({ current: true, host: `127.0.0.1:${String(port)}` });
  await owner.client.call(putNotificationPreferences, {
    body: { kinds: [{ kind: "large_deposit", inApp: false, mail: "off", push: true }] },
  });
  await happen(waits, deposit);
  expect(await deliver()).toEqual([{ done: true }, { done: true }]);
  const messages = played.received.map(({ body }) => browser.decrypt(body));
  expect(messages).toEqual(
    expect.arrayContaining([
      {
        title: "Swap waits for approval",
        path: expect.stringMatching(/^\/activity\/op_/) as string,
      },
      {
        title: "A deposit arrived",
        path: expect.stringMatching(/^\/activity\/op_/) as string,
      },
    ]),
  );
  expect(JSON.stringify(messages)).not.toMatch(/25,?000|USDC/);
  const { publicKey } = await owner.client.call(listPushSubscriptions);
  expect(played.received[0]?.headers).toMatchObject({
    "content-encoding": "aes128gcm",
    ttl: "86400",
    authorization: expect.stringMatching(
      new RegExp(`^vapid t=\\S+, k=${publicKey}$`),
    ) as string,
  });
  expect(played.received[0]?.body.includes(Buffer.from("Swap"))).toBe(false);
});

test("a person's choice per kind counts, and an older client that does not name push leaves it", async () => {
  const browser = newBrowser();
  await owner.client.call(createPushSubscription, { body: browser.subscription });
  const choose = (push?: boolean) =>
    owner.client.call(putNotificationPreferences, {
      body: {
        kinds: [
          {
            kind: "approval_waiting",
            inApp: true,
            mail: "off",
            ...(push === undefined ? {} : { push }),
          },
        ],
      },
    });
  await choose(false);
  await choose();
  const { kinds } = await owner.client.call(getNotificationPreferences);
  expect(kinds[0]).toMatchObject({ kind: "approval_waiting", push: false });
  await happen(waits);
  expect(await jobs()).toEqual([]);
});

test.each([404, 410, 403])(
  "a subscription that the push service does not know (%i) is removed",
  async (status) => {
    await owner.client.call(createPushSubscription, { body: newBrowser().subscription });
    played.status = status;
    await happen(waits);
    expect(await deliver()).toEqual([{ done: true }]);
    expect((await owner.client.call(listPushSubscriptions)).data).toEqual([]);
  },
);

test("429 waits as long as Retry-After says, and 5xx is tried again", async () => {
  const browser = newBrowser();
  await owner.client.call(createPushSubscription, { body: browser.subscription });
  played.status = 429;
  played.headers = { "retry-after": "90" };
  await happen(waits);
  const [limited] = await deliver();
  expect((limited as { againInMs?: number }).againInMs).toBeGreaterThanOrEqual(90_000);
  played.status = 503;
  played.headers = {};
  expect((await deliver())[0]).toMatchObject({ done: false });
  played.status = 201;
  expect(await deliver()).toEqual([{ done: true }]);
});

test("a browser whose session has ended gets nothing, and another browser does", async () => {
  const [first, second] = [newBrowser(), newBrowser()];
  const other = await api.signIn(privateKey);
  await owner.client.call(createPushSubscription, { body: first.subscription });
  await other.client.call(createPushSubscription, { body: second.subscription });
  expect((await owner.client.call(listPushSubscriptions)).data).toHaveLength(2);
  await happen(waits);
  const { sessionId } = await services.auth.verifyAccessToken(other.accessToken);
  await database.prisma.session.update({
    where: { id: sessionId },
    data: { revokedAt: new Date() },
  });
  await deliver();
  expect(played.received).toHaveLength(1);
  expect(first.decrypt(played.received[0]?.body ?? Buffer.alloc(0))).toMatchObject({
    title: "Swap waits for approval",
  });
  expect((await owner.client.call(listPushSubscriptions)).data).toHaveLength(1);
  await services.sweep();
  expect(await database.prisma.pushSubscription.count()).toBe(1);
});

test("push is turned off by its person only, and an address inside the network is refused", async () => {
  const made = await owner.client.call(createPushSubscription, {
    body: newBrowser().subscription,
  });
  const stranger = await api.signIn();
  const params = { id: made.id };
  await expect(stranger.client.call(deletePushSubscription, { params })).rejects.toMatchObject({
    code: "not_found",
  });
  expect(await owner.client.call(deletePushSubscription, { params })).toEqual(params);
  const body = { ...newBrowser().subscription, endpoint: "http://169.254.169.254/send" };
  await expect(owner.client.call(createPushSubscription, { body })).rejects.toMatchObject({
    code: "invalid_request",
  });
});

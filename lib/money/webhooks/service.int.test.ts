import { expect, onTestFinished, test, vi } from "vitest";
import { createApiKey, revokeApiKey, updateApiKey } from "@/lib/contracts/api-keys";
import { listEvents } from "@/lib/contracts/events";
import {
  createWebhookEndpoint,
  getWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import { newId } from "@/lib/core/ids";
import { sqlOn } from "@/lib/platform/db/sql";
import { rotateKeys } from "@/lib/platform/encryption/rotation";
import { createKeyring } from "@/lib/platform/encryption/service";
import { recordEventsOn } from "@/lib/news/events/service";
import {
  approvedKey,
  signApproval,
  withApproval,
  type SignedApproval,
} from "@/lib/dev/testing/approve";
import { testApi } from "@/lib/dev/testing/api";
import { refusalOf } from "@/lib/dev/testing/voters";
import { encryptedWebhookSecrets } from "./secret-repository";

const api = await testApi({ devnet: false });
const { services } = api;
const { database } = services;
const session = await api.signIn();
const stranger = await api.signIn();
const email = await api.verifiedEmail(session);
const key = await api.createKey(session, {
  scopes: [
    "webhooks:read",
    "webhooks:write",
    "operations:read",
    "transfers:read",
    "payouts:read",
  ],
});
const url = "http://127.0.0.1:9999/hook";
const create = (
  body: object,
  headers: Readonly<Record<string, string>> = { "x-api-key": key.secret },
) =>
  api.fetch("/webhook-endpoints", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ url, events: ["operation.*"], ...body }),
  });
const made = async () =>
  key.client.call(createWebhookEndpoint, {
    body: { url, events: ["operation.*", "payout.created"] },
  });

test("an endpoint shows its secret once, and the database has it encrypted", async () => {
  const { secret, ...endpoint } = await made();
  expect(Buffer.from(secret.slice("whsec_".length), "base64")).toHaveLength(32);
  expect(await key.client.call(getWebhookEndpoint, { params: { id: endpoint.id } })).toEqual(
    endpoint,
  );
  const row = await database.prisma.webhookSecret.findFirstOrThrow({
    where: { endpointId: endpoint.id },
  });
  expect(Buffer.from(row.encrypted).includes(secret)).toBe(false);
  const dumped = JSON.stringify(await database.pool.query("SELECT * FROM webhook_endpoint"));
  expect(dumped.includes(secret)).toBe(false);
});

const rotate = (id: string, overlapHours: number) =>
  withApproval(session.account, (approval) =>
    session.client.call(rotateWebhookSecret, {
      params: { id },
      body: { overlapHours, ...(approval ? { approval } : {}) },
    }),
  );

test("an endpoint has two secrets during a rotation", async () => {
  const { id } = await made();
  const { secrets, secret } = await rotate(id, 1);
  expect(secrets.map(({ expiresAt }) => expiresAt === null)).toEqual([true, false]);
  const { projectId } = await database.prisma.webhookEndpoint.findFirstOrThrow({
    where: { id },
  });
  expect((await services.webhooks.secretsOf({ projectId, endpointId: id }))[0]).toBe(secret);
  const again = await rotate(id, 0);
  expect(again.secrets).toHaveLength(1);
});

test.each([
  ["another URL", { url: "http://127.0.0.1:9998/elsewhere" }],
  ["private details", { includePrivate: true }],
])(
  "a bearer token alone gives an endpoint no %s: it needs an approval, and the owners are mailed",
  async (_, body) => {
    const endpoint = await made();
    const params = { id: endpoint.id };
    const change = (approval?: SignedApproval) =>
      session.client.call(updateWebhookEndpoint, {
        params,
        body: { ...body, ...(approval ? { approval } : {}) },
      });
    expect(await refusalOf(change())).toMatchObject({ status: 409, code: "approval_required" });
    const { secret: _secret, ...before } = endpoint;
    expect(await session.client.call(getWebhookEndpoint, { params })).toEqual(before);
    expect(await withApproval(session.account, change)).toMatchObject(body);
    const mails = await database.prisma.mailOutbox.findMany({
      where: { to: email, text: { contains: endpoint.id } },
      orderBy: { id: "asc" },
    });
    // The first mail reported the new endpoint.
    expect(mails.map(({ subject }) => subject).slice(1)).toEqual([
      "A webhook endpoint of your project was changed",
    ]);
  },
);

test("a bearer token alone reads no new signing secret, and the approval is good for that overlap and that secret", async () => {
  const { id, secret } = await made();
  const params = { id };
  const asked = session.client.call(rotateWebhookSecret, { params, body: { overlapHours: 1 } });
  const refusal = await refusalOf(asked);
  expect(refusal).toMatchObject({ status: 409, code: "approval_required" });
  const approval = await signApproval(session.account, refusal);
  const other = session.client.call(rotateWebhookSecret, {
    params,
    body: { overlapHours: 0, approval },
  });
  expect(await refusalOf(other)).toMatchObject({ code: "approval_required" });
  const { projectId } = await database.prisma.webhookEndpoint.findFirstOrThrow({
    where: { id },
  });
  expect(await services.webhooks.secretsOf({ projectId, endpointId: id })).toEqual([secret]);
  await session.client.call(rotateWebhookSecret, {
    params,
    body: { overlapHours: 1, approval },
  });
  const used = session.client.call(rotateWebhookSecret, {
    params,
    body: { overlapHours: 1, approval },
  });
  expect((await refusalOf(used)).status).toBe(409);
  expect(await services.webhooks.secretsOf({ projectId, endpointId: id })).toHaveLength(2);
});

test("an API key moves no endpoint and reads no new secret, and what sends no more to anybody else needs no approval", async () => {
  const { id } = await made();
  const params = { id };
  const moved = key.client.call(updateWebhookEndpoint, {
    params,
    body: { url: "http://127.0.0.1:9998/" },
  });
  expect(await refusalOf(moved)).toMatchObject({ status: 403, code: "forbidden" });
  const rotated = key.client.call(rotateWebhookSecret, { params, body: {} });
  expect(await refusalOf(rotated)).toMatchObject({ status: 403, code: "forbidden" });
  expect(await key.client.call(getWebhookEndpoint, { params })).toMatchObject({ url });
  await database.prisma.webhookEndpoint.updateMany({
    where: { id },
    data: { status: "disabled" },
  });
  const body = { url, status: "active" as const, events: ["*"], includePrivate: false };
  expect(await session.client.call(updateWebhookEndpoint, { params, body })).toMatchObject(
    body,
  );
});

test("an endpoint has its secret encrypted anew when the key-encryption key is rotated", async () => {
  const { id, secret } = await made();
  const { projectId } = await database.prisma.webhookEndpoint.findFirstOrThrow({
    where: { id },
  });
  const [old] = services.config.keyEncryptionKeys;
  const keyring = createKeyring([Buffer.alloc(32, 7), old]);
  const tables = [encryptedWebhookSecrets(database)];
  const [rotation] = await rotateKeys({ keyring, tables });
  expect(rotation?.encrypted).toBeGreaterThan(0);
  const row = await database.prisma.webhookSecret.findFirstOrThrow({
    where: { endpointId: id },
  });
  const context = JSON.stringify(["webhook-secret", projectId, id, row.id]);
  expect(keyring.open({ kekId: row.kekId, bytes: row.encrypted }, context).toString()).toBe(
    secret,
  );
  // Restores the previous key for the tests after this one.
  await rotateKeys({ keyring: createKeyring([old, Buffer.alloc(32, 7)]), tables });
});

test.each([
  ["http://10.0.0.1/", "url"],
  ["http://169.254.169.254/latest", "url"],
  ["http://[::ffff:127.0.0.1]/", "url"],
  ["ftp://example.org/", "url"],
  ["https://user:pw@example.org/", "url"],
  ["https://example.org:22/", "url"],
])("an endpoint is refused for %s", async (bad, path) => {
  const response = await create({ url: bad });
  const body = (await response.json()) as { code: string; details: { path: string }[] };
  expect([response.status, body.code, body.details[0]?.path]).toEqual([
    400,
    "invalid_request",
    path,
  ]);
});

test.each([
  { events: [] },
  { events: ["operation.exploded"] },
  { events: ["operation"] },
  { events: "*" },
  { payload: "medium" },
  { unknown: 1, events: ["nothing.*"] },
])("an endpoint is refused for %j", async (bad) => {
  expect((await create(bad)).status).toBe(400);
});

test("an endpoint of another project is 404 on every route", async () => {
  const { id } = await made();
  const headers = {
    authorization: `Bearer ${stranger.accessToken}`,
    "content-type": "application/json",
  };
  const paths = ["", "/deliveries", "/rotate", "/test", "/replay"];
  for (const path of paths) {
    const method = path === "" || path === "/deliveries" ? "GET" : "POST";
    const body = path === "/replay" ? { from: 1, to: 2 } : {};
    const ask = (endpointId: string) =>
      api.fetch(`/webhook-endpoints/${endpointId}${path}`, {
        method,
        headers,
        ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
      });
    const [theirs, nothing] = [await ask(id), await ask(newId("webhookEndpoint"))];
    expect([theirs.status, nothing.status]).toEqual([404, 404]);
  }
  for (const method of ["PATCH", "DELETE"]) {
    const init = {
      method,
      headers,
      ...(method === "PATCH" ? { body: '{"payload":"thin"}' } : {}),
    };
    expect((await api.fetch(`/webhook-endpoints/${id}`, init)).status).toBe(404);
  }
  expect((await api.fetch(`/deliveries/${newId("delivery")}`, { headers })).status).toBe(404);
});

test("an endpoint needs its scopes, and privacy:read for private details", async () => {
  const reader = await api.createKey(session, { scopes: ["webhooks:read"] });
  expect((await create({}, { "x-api-key": reader.secret })).status).toBe(403);
  expect((await create({ includePrivate: true })).status).toBe(403);
  expect((await create({}, {})).status).toBe(401);
  const person = { authorization: `Bearer ${session.accessToken}` };
  expect((await create({ includePrivate: true }, person)).status).toBe(201);
});

test("a project has at most twenty endpoints", async () => {
  const own = await api.signIn();
  const headers = { authorization: `Bearer ${own.accessToken}` };
  for (let n = 0; n < 20; n += 1) expect((await create({}, headers)).status).toBe(201);
  const response = await create({}, headers);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    409,
    "invalid_state",
  ]);
});

test("events of API keys are written with the change, and are read in their order", async () => {
  const own = await api.signIn();
  const worker = services.startWebhooks("events-of-keys");
  onTestFinished(() => worker.stop());
  const { id } = await approvedKey(own.account, own.client, { name: "CI" });
  await own.client.call(updateApiKey, { params: { id }, body: { name: "CI 2" } });
  await own.client.call(revokeApiKey, { params: { id } });
  await own.client.call(revokeApiKey, { params: { id } });
  const listed = () => own.client.call(listEvents, { query: {} });
  await vi.waitFor(async () => expect((await listed()).lastSequence).toBe(3), {
    timeout: 20_000,
    interval: 20,
  });
  const { data } = await listed();
  expect(
    data.map(({ type, sequence, objectSequence }) => [type, sequence, objectSequence]),
  ).toEqual([
    ["api_key.created", 1, 1],
    ["api_key.updated", 2, 2],
    ["api_key.revoked", 3, 3],
  ]);
  expect(data[1]?.data).toMatchObject({ keyId: id, name: "CI 2" });
  expect((await own.client.call(listEvents, { query: { after: 2 } })).data).toHaveLength(1);
});

test("without privacy:read an event of a private movement shows only its number", async () => {
  const own = await api.signIn();
  const plain = await approvedKey(own.account, own.client, {
    name: "plain",
    scopes: ["webhooks:read", "operations:read"],
  });
  const { projectId } = await database.prisma.apiKey.findUniqueOrThrow({
    where: { id: plain.id },
  });
  const worker = services.startWebhooks("private-events");
  onTestFinished(() => worker.stop());
  const event = {
    projectId,
    type: "operation.completed",
    objectId: "op_p",
    data: { secret: 1 },
    private: true,
  } as const;
  await database.rawTransaction((sql) => recordEventsOn(sql, [{ ...event, at: new Date() }]));
  const readAs = async (secret: string) =>
    api.client({ "x-api-key": secret }).call(listEvents, { query: { after: 1 } });
  await vi.waitFor(async () => expect((await readAs(plain.secret)).data).toHaveLength(1), {
    timeout: 20_000,
    interval: 20,
  });
  expect(Object.keys((await readAs(plain.secret)).data[0] ?? {}).sort()).toEqual([
    "id",
    "sequence",
    "type",
  ]);
  const full = await own.client.call(listEvents, { query: { after: 1 } });
  expect(full.data[0]?.data).toEqual({ secret: 1 });
});

test("a change that is rolled back writes no event", async () => {
  const before = await sqlOn(database.pool).query("SELECT 1 FROM event_outbox", []);
  await expect(
    session.client.call(createApiKey, {
      body: { name: "wide", otp: "exempt", dailyCapUsd: "1" },
    }),
  ).rejects.toMatchObject({ code: "approval_required" });
  expect(await sqlOn(database.pool).query("SELECT 1 FROM event_outbox", [])).toEqual(before);
});

import { afterAll, expect, test, vi } from "vitest";
import { createServices, getServices, setServices } from "@/lib/composition";
import { readWebhookReceiver } from "@/lib/contracts/dev";
import {
  createWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { serveApi } from "@/lib/dev/testing/http";
import { signedHeaders } from "./rules";

const api = await testApi({ devnet: false });
const { services } = api;
const url = await serveApi(services);
const worker = services.startWebhooks("receiver");
afterAll(() => worker.stop());
const [own, other] = [await api.signIn(), await api.signIn()];
const read = (session = own) => session.client.call(readWebhookReceiver, {});
/** The receiver's URL names the configured port, but the test's server has a different one. */
const reachable = (receiverUrl: string): string =>
  `${url}${new URL(receiverUrl).pathname.replace(/^\/api/, "")}`;
const post = async (
  target: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
) =>
  (
    await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    })
  ).status;

test("what arrives is shown to its own project, with whether its signature verifies", async () => {
  const { url: receiverUrl, endpointIds } = await read();
  expect(endpointIds).toEqual([]);
  const body = JSON.stringify({ n: 1 });
  const made = await own.client.call(createWebhookEndpoint, {
    body: { url: receiverUrl, events: ["*"] },
  });
  expect((await read()).endpointIds).toEqual([made.id]);
  const { secret: newer } = await withApproval(own.account, (approval) =>
    own.client.call(rotateWebhookSecret, {
      params: { id: made.id },
      body: approval ? { approval } : {},
    }),
  );
  const target = reachable(receiverUrl);
  const signedBy = (secret: string, at = new Date()) =>
    signedHeaders([secret], { id: "evt_1", at, body });
  expect(
    await post(target, body, { ...signedBy(made.secret), authorization: "Bearer secret" }),
  ).toBe(200);
  expect(await post(target, body, signedBy(newer))).toBe(200);
  expect(await post(target, `${body} `, signedBy(newer))).toBe(200);
  expect(await post(target, body, signedBy(newer, new Date(Date.now() - 360_000)))).toBe(200);
  expect(await post(target, body)).toBe(200);
  const { data } = await read();
  expect(data.map(({ signature }) => signature)).toEqual([
    "missing",
    "too_old",
    "invalid",
    "valid",
    "valid",
  ]);
  expect(data.at(-1)).toMatchObject({ body, headers: { "webhook-id": "evt_1" } });
  expect(JSON.stringify(data)).not.toContain("Bearer secret");
  expect((await read(other)).data).toEqual([]);
});

test("an endpoint that sends there delivers to it", async () => {
  const session = await api.signIn();
  // The test server's port stands for the service's own port here.
  const target = reachable((await read(session)).url);
  const made = await session.client.call(createWebhookEndpoint, {
    body: { url: target, events: ["payout.*"] },
  });
  await session.client.call(testWebhookEndpoint, { params: { id: made.id } });
  await vi.waitFor(async () => expect((await read(session)).data).toHaveLength(1), {
    timeout: 15_000,
    interval: 20,
  });
  const [request] = (await read(session)).data;
  expect(JSON.parse(request?.body ?? "{}")).toMatchObject({ type: "webhook.test" });
});

test("it keeps the last 50 requests, and takes none under a token of somebody's own making", async () => {
  const target = reachable((await read(other)).url);
  for (let n = 1; n <= 55; n += 1) expect(await post(target, JSON.stringify({ n }))).toBe(200);
  const { data } = await read(other);
  expect(data.map(({ body }) => (JSON.parse(body) as { n: number }).n)).toEqual(
    Array.from({ length: 50 }, (_, index) => 55 - index),
  );
  const [projectId = ""] = new URL(target).pathname.split("/").at(-1)?.split(".") ?? [];
  const base = target.slice(0, target.lastIndexOf("/"));
  for (const token of [
    projectId,
    `${projectId}.`,
    `${projectId}.x`,
    `${target.slice(base.length + 1, -1)}x`,
    "x",
  ])
    expect(await post(`${base}/${token}`, "{}")).toBe(404);
  expect(await post(target, "[]")).toBe(400);
});

test("in production there is none", async () => {
  const production = createServices({ ...services.config, env: "production" });
  await production.close();
  const target = reachable((await read()).url);
  const before = getServices();
  setServices({ ...before, webhookReceiver: production.webhookReceiver });
  try {
    expect(await post(target, "{}")).toBe(404);
    await expect(read()).rejects.toMatchObject({ status: 404 });
  } finally {
    setServices(before);
  }
});

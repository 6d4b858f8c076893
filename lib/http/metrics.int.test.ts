import { createHmac } from "node:crypto";
import { expect, test, vi } from "vitest";
import { getServices, setServices } from "@/lib/composition";
import type { Clock } from "@/lib/core/clock";
import { recordEventsOn } from "@/lib/news/events/service";
import { testApi } from "@/lib/dev/testing/api";
import { serveApi } from "@/lib/dev/testing/http";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";
import { startMetricsServer } from "./metrics-server";
import { afterFile } from "@/lib/dev/testing/after-file";

const TOKEN = "a-token-for-reading-metrics";
const RELAY = "the-api-key-that-relay-signs-with";
const moved = { ms: 0 };
const SAMPLES_FRESH_MS = 2_000;
const RETRY_AFTER_SECONDS = 3_600;
const clock: Clock = { now: () => new Date(Date.now() + moved.ms) };
const variables = {
  METRICS_TOKEN: TOKEN,
  WEBHOOK_SECRET: "a-secret-of-callbacks",
  RELAY_WEBHOOK_SECRET: RELAY,
};
const api = await testApi({ devnet: false, variables, overrides: { clock } });
const { services } = api;
const url = await serveApi(services);
const session = await api.signIn();
const key = await api.createKey(session, {
  scopes: [
    "webhooks:read",
    "webhooks:write",
    "operations:read",
    "transfers:read",
    "payouts:read",
  ],
});
const actor = await services.apiKeys.verify(key.secret);
const { projectId } = actor;
const receiver = await webhookReceiver();
const WAIT = { timeout: 15_000, interval: 20 };

const scrape = async (
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${TOKEN}` },
) => {
  const response = await fetch(`${url}/metrics`, { headers });
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    text: await response.text(),
  };
};
/**
 * Reads a series by its full name, such as `name{label="value"}`. Other test files of this process
 * count in the same registry.
 */
const read = async (): Promise<(series: string) => number> => {
  // Samples are cached for some seconds of this clock, and each read of this file needs a new one.
  moved.ms += SAMPLES_FRESH_MS;
  const { text } = await scrape();
  const lines = new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [
        line.slice(0, line.lastIndexOf(" ")),
        Number(line.slice(line.lastIndexOf(" ") + 1)),
      ]),
  );
  return (series) => lines.get(series) ?? 0;
};
const happen = (objectId: string): Promise<void> =>
  services.database.rawTransaction((sql) =>
    recordEventsOn(sql, [
      { projectId, type: "payout.created", objectId, data: {}, at: clock.now() },
    ]),
  );

test("the metrics are read with the token, and without a configured token from this machine alone", async () => {
  const { status, type, text } = await scrape();
  expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(text).toContain("# TYPE causeway_webhook_lag_seconds histogram");
  expect((await scrape({})).status).toBe(401);
  expect((await scrape({ authorization: "Bearer wrong" })).status).toBe(401);
  const before = getServices();
  setServices({ ...before, config: { ...before.config, metricsToken: null } });
  try {
    expect((await scrape({})).status).toBe(200);
    expect((await scrape({ "x-forwarded-for": "203.0.113.7" })).status).toBe(404);
  } finally {
    setServices(before);
  }
});

test("deliveries: what waits and for how long, what failed and is tried again, and how late it arrived", async () => {
  const before = await read();
  const worker = services.startWebhooks("metrics");
  afterFile(() => worker.stop());
  // Each read moves the clock, so the second attempt is far enough away for any number of reads.
  receiver.answer((response, _webhook, turn) =>
    turn === 1
      ? response.writeHead(503, { "retry-after": String(RETRY_AFTER_SECONDS) }).end()
      : response.writeHead(200).end(),
  );
  const { endpoint } = await services.webhooks.create(actor, {
    url: receiver.url,
    events: ["payout.*"],
    payload: "full",
    includePrivate: false,
  });
  await happen("po_1");
  await vi.waitFor(async () => {
    const now = await read();
    const attempt = (outcome: string) =>
      `causeway_webhook_attempt_duration_seconds_count{outcome="${outcome}"}`;
    expect(now(attempt("retry")) - before(attempt("retry"))).toBe(1);
    expect(now("causeway_webhook_waiting")).toBe(1);
    expect(now('causeway_webhook_endpoints{state="failing"}')).toBe(1);
  }, WAIT);
  moved.ms += 4000;
  expect((await read())("causeway_webhook_oldest_seconds")).toBeGreaterThanOrEqual(4);
  moved.ms += RETRY_AFTER_SECONDS * 1000;
  await vi.waitFor(async () => {
    const now = await read();
    const delivered = 'causeway_webhook_attempt_duration_seconds_count{outcome="delivered"}';
    expect(now(delivered) - before(delivered)).toBe(1);
    expect(now("causeway_webhook_waiting")).toBe(0);
    expect(now('causeway_webhook_endpoints{state="active"}')).toBe(1);
  }, WAIT);
  const now = await read();
  expect(now("causeway_webhook_oldest_seconds")).toBe(0);
  const [late, sum] = [
    'causeway_webhook_lag_seconds_bucket{le="5"}',
    "causeway_webhook_lag_seconds_sum",
  ];
  // The service's clock moved by `RETRY_AFTER_SECONDS`, so the delivery is in no bucket up to five
  // seconds.
  expect(now(late)).toBe(before(late));
  expect(now(sum) - before(sum)).toBeGreaterThanOrEqual(RETRY_AFTER_SECONDS);
  await services.webhooks.update(actor, endpoint.id, { status: "paused" });
  expect((await read())('causeway_webhook_endpoints{state="paused"}')).toBe(1);
  await worker.stop();
  await happen("po_2");
  moved.ms += 3000;
  const unnumbered = await read();
  expect(unnumbered("causeway_events_waiting")).toBe(1);
  expect(unnumbered("causeway_events_oldest_seconds")).toBeGreaterThanOrEqual(3);
});

test("callbacks: new, repeated, unknown and refused ones, and how late they were", async () => {
  const before = await read();
  const secret = variables.WEBHOOK_SECRET;
  const post = (
    body: object,
    headers: Readonly<Record<string, string>> = { "x-signature": secret },
  ) =>
    fetch(`${url}/webhooks/routing`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const known = { id: "m1", event: "request.status.updated", data: { status: "pending" } };
  for (let turn = 0; turn < 3; turn += 1) expect((await post(known)).status).toBe(200);
  expect(
    (await post({ id: "m2", event: "request.status.updated", data: { status: "odd" } })).status,
  ).toBe(200);
  expect((await post(known, { "x-signature": "wrong" })).status).toBe(401);
  const timestamp = String(clock.now().getTime() - 60_000);
  const signature = createHmac("sha256", RELAY)
    .update(`${timestamp}.${JSON.stringify(known)}`)
    .digest("hex");
  const relay = { "x-signature-timestamp": timestamp, "x-signature-sha256": signature };
  expect((await post(known, relay)).status).toBe(200);
  const now = await read();
  const grown = (series: string): number => now(series) - before(series);
  const outcome = (name: string) =>
    `causeway_callbacks_total{source="routing",outcome="${name}"}`;
  expect(["new", "repeated", "unknown", "refused"].map((name) => grown(outcome(name)))).toEqual(
    [1, 3, 1, 1],
  );
  expect(grown('causeway_callback_lag_seconds_count{source="routing"}')).toBe(1);
  expect(grown('causeway_callback_lag_seconds_sum{source="routing"}')).toBeGreaterThanOrEqual(
    60,
  );
});

test("a process without a web server serves them on a port of their own, under the same rules", async () => {
  const server = await startMetricsServer({
    host: "127.0.0.1",
    port: 0,
    token: TOKEN,
    publicUrl: services.config.publicUrl,
    render: services.metrics.render,
  });
  afterFile(() => server.stop());
  const get = (path: string, token: string) =>
    fetch(`http://127.0.0.1:${String(server.port)}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  const response = await get("/metrics", TOKEN);
  expect([
    response.status,
    (await response.text()).includes("causeway_webhook_waiting 0"),
  ]).toEqual([200, true]);
  expect((await get("/metrics", "wrong")).status).toBe(401);
  expect((await get("/health", TOKEN)).status).toBe(404);
});

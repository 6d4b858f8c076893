import { expect, onTestFinished, test, vi } from "vitest";
import { getDelivery } from "@/lib/contracts/webhook-deliveries";
import { webhookDeliveries } from "@/lib/dev/testing/webhook-deliveries";
import { verifyWebhook } from "@/lib/dev/testing/webhook-receiver";
import { HOLD_BACK_MS, RETRY_DELAYS_MS } from "./rules";

const {
  moved,
  clock,
  services,
  database,
  key,
  projectId,
  email,
  receiver,
  other,
  actor,
  happen,
  endpoint,
  rotate,
  deliveriesOf,
  until,
  arrived,
  settled,
  objects,
} = await webhookDeliveries();

test("a delivery is signed as Standard Webhooks, and says what happened in which order", async () => {
  const { id, secret } = await endpoint();
  await happen("op_1");
  await arrived(1);
  const [webhook] = receiver.received;
  if (webhook === undefined) throw new Error("Nothing arrived.");
  expect(verifyWebhook(secret, webhook)).toEqual(webhook.body);
  const { sequence, createdAt } = webhook.body;
  expect(webhook.body).toEqual({
    id: webhook.headers["webhook-id"],
    type: "operation.processing",
    createdAt,
    sequence,
    objectId: "op_1",
    objectSequence: 1,
    data: { objectId: "op_1" },
  });
  const tampered = { ...webhook, raw: webhook.raw.replace("op_1", "op_2") };
  expect(() => verifyWebhook(secret, tampered)).toThrow();
  await settled(id, ["delivered"]);
});

test("a thin payload has no data, and a private movement has fewer fields", async () => {
  await endpoint({ payload: "thin" });
  await endpoint({ url: other.url, includePrivate: false });
  await happen("op_thin");
  await happen("op_private", "operation.completed", true);
  await Promise.all([arrived(2), arrived(2, other)]);
  const bodyOf = (from: typeof receiver, type: string) =>
    from.received.find(({ body }) => body.type === type)?.body;
  expect(Object.keys(bodyOf(receiver, "operation.processing") ?? {})).not.toContain("data");
  for (const from of [receiver, other])
    expect(Object.keys(bodyOf(from, "operation.completed") ?? {}).sort()).toEqual([
      "id",
      "sequence",
      "type",
    ]);
});

test("a delivery to a filtered endpoint names the previous number that was sent", async () => {
  await endpoint({ events: ["payout.*", "api_key.revoked"] });
  await happen("po_1", "payout.created");
  await happen("op_2");
  await happen("key_1", "api_key.revoked");
  await happen("key_1", "api_key.created");
  await happen("po_1", "payout.item.failed");
  await arrived(3);
  const bodies = receiver.received.map(({ body }) => body);
  bodies.sort((a, b) => Number(a.sequence) - Number(b.sequence));
  expect(bodies.map(({ type }) => type)).toEqual([
    "payout.created",
    "api_key.revoked",
    "payout.item.failed",
  ]);
  expect(bodies.map(({ previousSequence }) => previousSequence)).toEqual([
    undefined,
    bodies[0]?.sequence,
    bodies[1]?.sequence,
  ]);
});

test("an attempt that fails is repeated ten times at the times of the schedule, under one id, and then given up", async () => {
  const { id, secret } = await endpoint();
  receiver.answer((response) => response.writeHead(500).end("no"));
  let begunMs = clock.now().getTime();
  await happen("op_down");
  await arrived(1);
  for (const [index, delay] of RETRY_DELAYS_MS.entries()) {
    await until(async () => expect((await deliveriesOf(id))[0]?.attempts).toBe(index + 1));
    const [delivery] = await deliveriesOf(id);
    const next = Date.parse(delivery?.nextAttemptAt ?? "");
    const waits = next - clock.now().getTime();
    // The delay after the attempt, plus up to a fifth of jitter.
    expect(waits).toBeLessThanOrEqual(delay * 1.2);
    expect(next).toBeGreaterThanOrEqual(begunMs + delay);
    moved.ms += waits;
    begunMs = clock.now().getTime();
    await arrived(index + 2);
  }
  await settled(id, ["failed"]);
  expect(receiver.received).toHaveLength(10);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(receiver.received.map(({ raw }) => raw)).size).toBe(1);
  const [last] = await deliveriesOf(id);
  const { requests } = await key.client.call(getDelivery, { params: { id: last?.id ?? "" } });
  expect(requests.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(requests[0]).toMatchObject({ response: { statusCode: 500, body: "no" }, error: null });
  // The signature was valid at the time of signing; later the library refuses it as too old.
  const [newest] = requests.slice(-1);
  expect(newest?.request.headers["webhook-signature"]).toMatch(/^v1,/);
  expect(secret.startsWith("whsec_")).toBe(true);
});

test("every delivery arrives in the end at a receiver that is down half of the time", async () => {
  const { id } = await endpoint();
  receiver.answer((response, _webhook, turn) =>
    response.writeHead(turn % 2 === 1 ? 503 : 200).end(),
  );
  for (let n = 0; n < 20; n += 1) await happen(`op_half_${String(n)}`);
  await arrived(20);
  await until(async () => {
    const open = (await deliveriesOf(id)).filter(({ status }) => status !== "delivered");
    const next = open.map(
      ({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? "") - clock.now().getTime(),
    );
    moved.ms += Math.max(0, ...next);
    expect(open).toEqual([]);
  });
  expect(new Set(objects()).size).toBe(20);
});

test("a failed attempt is repeated no earlier than Retry-After says", async () => {
  const { id } = await endpoint();
  receiver.answer((response, _webhook, turn) =>
    turn === 1
      ? response.writeHead(429, { "retry-after": "1234" }).end()
      : response.writeHead(200).end(),
  );
  const before = clock.now().getTime();
  await happen("op_429");
  await until(async () => expect((await deliveriesOf(id))[0]?.attempts).toBe(1));
  const [delivery] = await deliveriesOf(id);
  expect(Date.parse(delivery?.nextAttemptAt ?? "")).toBeGreaterThanOrEqual(before + 1_234_000);
  moved.ms += 1_300_000;
  await settled(id, ["delivered"]);
});

test("a redirect counts as a failed attempt and is not followed", async () => {
  const { id } = await endpoint();
  receiver.answer((response) => response.writeHead(307, { location: other.url }).end());
  await happen("op_redirect");
  await until(async () =>
    expect((await deliveriesOf(id))[0]).toMatchObject({ statusCode: 307, status: "pending" }),
  );
  expect(other.received).toEqual([]);
});

test("a failed attempt holds back later events of its object for at most five minutes, and no other events", async () => {
  const { id } = await endpoint();
  receiver.answer((response, { body }) =>
    response
      .writeHead(body.objectSequence === 1 && body.objectId === "op_held" ? 500 : 200)
      .end(),
  );
  await happen("op_held");
  await arrived(1);
  await happen("op_held");
  await happen("op_free");
  await until(() => expect(objects()).toContain("op_free"));
  const stateOf = async (): Promise<unknown[]> => {
    const bySequence = (await deliveriesOf(id)).sort(
      (one, next) => one.sequence - next.sequence,
    );
    return bySequence.map(({ status, attempts }) =>
      attempts === 0 ? `${status}, untried` : status,
    );
  };
  await until(async () =>
    expect(await stateOf()).toEqual(["pending", "pending, untried", "delivered"]),
  );
  moved.ms += HOLD_BACK_MS + 1000;
  await until(async () =>
    expect((await deliveriesOf(id)).filter(({ status }) => status === "pending")).toHaveLength(
      1,
    ),
  );
  const order = receiver.received.filter(({ body }) => body.objectId === "op_held");
  expect(order.map(({ body }) => body.objectSequence)).toContain(2);
});

test("an answer of 410 disables the endpoint, and the owners get a mail", async () => {
  const { id } = await endpoint();
  receiver.answer((response) => response.writeHead(410).end());
  await happen("op_gone");
  await until(async () =>
    expect(await services.webhooks.get(projectId, id)).toMatchObject({
      status: "disabled",
      disabledReason: "gone",
    }),
  );
  const { lastSequence } = await services.events.list(actor, { after: 0, limit: 1 });
  await happen("op_after");
  await until(async () =>
    expect(
      (await services.events.list(actor, { after: lastSequence, limit: 1 })).data,
    ).toHaveLength(1),
  );
  await services.webhooks.update(actor, id, { status: "active" });
  receiver.answer((response) => response.writeHead(200).end());
  await happen("op_again");
  await until(() => expect(objects()).toEqual(["op_gone", "op_again"]));
  const mails = await database.prisma.mailOutbox.findMany({ where: { to: email } });
  expect(mails.map(({ subject }) => subject)).toContain("A webhook endpoint was disabled");
});

test("five days of failures disable the endpoint; a success in between starts the count again", async () => {
  const { id } = await endpoint();
  const failingSince = async () => (await services.webhooks.get(projectId, id)).failingSince;
  receiver.answer((response) => response.writeHead(500).end());
  await happen("op_a");
  await until(async () => expect(await failingSince()).not.toBeNull());
  moved.ms += 4 * 86_400_000;
  receiver.answer((response) => response.writeHead(200).end());
  await until(async () => expect(await failingSince()).toBeNull());
  receiver.answer((response) => response.writeHead(500).end());
  await happen("op_b");
  await until(async () => expect(await failingSince()).not.toBeNull());
  moved.ms += 4 * 86_400_000;
  await happen("op_c");
  await until(async () => expect((await deliveriesOf(id))[0]?.attempts).toBe(1));
  expect((await services.webhooks.get(projectId, id)).status).toBe("active");
  moved.ms += 86_400_000;
  await until(async () =>
    expect(await services.webhooks.get(projectId, id)).toMatchObject({
      status: "disabled",
      disabledReason: "failing",
    }),
  );
});

test("a receiver that answers late or endlessly delays no other receiver, and gets at most ten parallel requests", async () => {
  const slow = await endpoint();
  const quick = await endpoint({ url: other.url });
  const open: (() => void)[] = [];
  receiver.answer((response) => open.push(() => response.writeHead(200).end()));
  for (let n = 0; n < 25; n += 1) await happen(`op_slow_${String(n)}`);
  await arrived(25, other);
  await settled(
    quick.id,
    Array.from({ length: 20 }, () => "delivered"),
  );
  await arrived(10);
  expect(receiver.received).toHaveLength(10);
  const releasing = setInterval(() => open.splice(0).forEach((end) => end()), 10);
  onTestFinished(() => clearInterval(releasing));
  await arrived(25);
  await until(async () =>
    expect((await services.webhooks.get(projectId, slow.id)).pending).toBe(0),
  );
  expect(receiver.openMax).toBe(10);
  expect(new Set(objects()).size).toBe(25);
});

test("an answer of 100 MB is cut off, and its status counts", async () => {
  const { id } = await endpoint();
  const chunk = Buffer.alloc(1024 * 1024, "x");
  let sent = 0;
  receiver.answer((response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const more = (): void => {
      while (sent < 100 && !response.destroyed) {
        sent += 1;
        if (!response.write(chunk)) return;
      }
    };
    response.on("drain", more);
    more();
  });
  await happen("op_big");
  await settled(id, ["delivered"]);
  const [delivery] = await deliveriesOf(id);
  const { requests } = await key.client.call(getDelivery, {
    params: { id: delivery?.id ?? "" },
  });
  expect(requests[0]?.response?.body).toHaveLength(4096);
  expect(sent).toBeLessThan(100);
});

test("a member can pause an endpoint, and what came meanwhile is sent when it is active again", async () => {
  const { id } = await endpoint();
  await services.webhooks.update(actor, id, { status: "paused" });
  await happen("op_paused");
  await until(async () => expect(await deliveriesOf(id)).toHaveLength(1));
  await services.webhooks.update(actor, id, { status: "active" });
  await until(() => expect(objects()).toEqual(["op_paused"]));
});

test("a member can rotate a secret: both sign during the overlap, and only the new one after it", async () => {
  const { id, secret } = await endpoint();
  const rotated = await rotate(id, 2);
  await happen("op_both");
  await arrived(1);
  const [both] = receiver.received;
  if (both === undefined) throw new Error("Nothing arrived.");
  // The library compares with this machine's time, which the earlier tests moved.
  const at = (webhook: typeof both) =>
    vi.setSystemTime(Number(webhook.headers["webhook-timestamp"]) * 1000);
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["Date"] });
  at(both);
  for (const one of [secret, rotated.secret])
    expect(verifyWebhook(one, both)).toEqual(both.body);
  vi.useRealTimers();
  moved.ms += 2 * 3_600_000 + 1000;
  await happen("op_new");
  await arrived(2);
  const [, only] = receiver.received;
  if (only === undefined) throw new Error("Nothing arrived.");
  vi.useFakeTimers({ toFake: ["Date"] });
  at(only);
  expect(() => verifyWebhook(secret, only)).toThrow();
  expect(verifyWebhook(rotated.secret, only)).toEqual(only.body);
});

test("a member can send a test, send a delivery again, and replay a range under the events' own ids", async () => {
  const { id } = await endpoint({ events: ["payout.*"] });
  const tested = await services.webhooks.deliveries.test(actor, id);
  await until(() =>
    expect(receiver.received.map(({ body }) => body.type)).toEqual(["webhook.test"]),
  );
  expect(receiver.received[0]?.headers["webhook-id"]).toBe(tested.eventId);
  await happen("po_r", "payout.created");
  await happen("op_r");
  await happen("po_r", "payout.approved");
  await arrived(3);
  const [, first, second] = receiver.received;
  const [from, to] = [Number(first?.body.sequence), Number(second?.body.sequence)];
  expect(await services.webhooks.deliveries.replay(actor, id, { from, to })).toEqual({
    queued: 2,
  });
  await arrived(5);
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(ids.slice(3)).toEqual(ids.slice(1, 3));
  const [, approved] = (await deliveriesOf(id)).filter(
    ({ type }) => type === "payout.approved",
  );
  await services.webhooks.deliveries.resend(actor, approved?.id ?? "");
  await arrived(6);
  expect(receiver.received[5]?.headers["webhook-id"]).toBe(ids[2]);
  await expect(
    services.webhooks.deliveries.replay(actor, id, { from: 1, to: 10_001 }),
  ).rejects.toMatchObject({
    code: "invalid_request",
  });
});

test("a worker that dies with the lease of an endpoint is followed by another one", async () => {
  const { id } = await endpoint({ events: ["payout.*"] });
  await database.pool.query(
    "UPDATE webhook_lane SET locked_by = 'dead', locked_until = now() + interval '2 seconds' WHERE endpoint_id = $1",
    [id],
  );
  await happen("po_heir", "payout.created");
  await until(async () => expect(await deliveriesOf(id)).toHaveLength(1));
  await settled(id, ["delivered"]);
  const lane = await database.prisma.webhookLane.findFirstOrThrow({
    where: { endpointId: id },
  });
  expect(lane.lockedBy).not.toBe("dead");
});

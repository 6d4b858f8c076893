import { beforeEach, expect, vi } from "vitest";
import type { EventType } from "@/lib/contracts/events";
import { listDeliveries } from "@/lib/contracts/webhook-deliveries";
import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { recordEventsOn } from "@/lib/news/events/service";
import { rotateWebhookSecret } from "@/lib/contracts/webhook-endpoints";
import { testApi } from "./api";
import { withApproval } from "./approve";
import { webhookReceiver } from "./webhook-receiver";
import { afterFile } from "./after-file";
import { testKey } from "./factories";

/**
 * A service that delivers webhooks to two receivers of the test. The receivers are emptied before
 * each test.
 */
export const webhookDeliveries = async () => {
  /** Milliseconds that the service's clock adds to the real time. Tests increase the number. */
  const moved = { ms: 0 };
  const clock: Clock = { now: () => new Date(Date.now() + moved.ms) };
  const api = await testApi({ devnet: false, overrides: { clock } });
  const { services } = api;
  const { database } = services;
  const ownerKey = testKey();
  const session = await api.signIn(ownerKey);
  const key = await api.createKey(session, {
    scopes: [
      "webhooks:read",
      "webhooks:write",
      "operations:read",
      "transfers:read",
      "payouts:read",
    ],
  });
  const { projectId } = await database.prisma.apiKey.findUniqueOrThrow({
    where: { id: key.id },
  });
  const email = await api.verifiedEmail(session);
  const worker = services.startWebhooks("worker-of-this-test");
  afterFile(() => worker.stop());

  const receiver = await webhookReceiver();
  const other = await webhookReceiver();
  // A person may subscribe to every event, including those about keys and members.
  const { userId, sessionId } = await services.auth.verifyAccessToken(session.accessToken);
  const actor: Actor = { type: "user", userId, sessionId, projectId, role: "owner" };
  const WAIT = { timeout: 15_000, interval: 20 };

  const happen = (
    objectId: string,
    type: EventType = "operation.processing",
    isPrivate = false,
  ): Promise<void> =>
    database.rawTransaction((sql) =>
      recordEventsOn(sql, [
        { projectId, type, objectId, data: { objectId }, private: isPrivate, at: clock.now() },
      ]),
    );
  const endpoint = async (
    input: Partial<Parameters<typeof services.webhooks.create>[1]> = {},
  ) => {
    const own = {
      url: receiver.url,
      events: ["*"],
      payload: "full",
      includePrivate: false,
    } as const;
    const { endpoint: made, secret } = await services.webhooks.create(actor, {
      ...own,
      ...input,
    });
    return { id: made.id, secret };
  };
  /**
   * Rotates the secret of an endpoint. Signs in again before, because the access token of the
   * session has expired when a test moved the clock.
   */
  const rotate = async (id: string, overlapHours: number) => {
    const again = await api.signIn(ownerKey);
    return withApproval(session.account, (approval) =>
      again.client.call(rotateWebhookSecret, {
        params: { id },
        body: { overlapHours, ...(approval ? { approval } : {}) },
      }),
    );
  };
  const deliveriesOf = async (id: string) =>
    (await key.client.call(listDeliveries, { params: { id }, query: {} })).data;
  const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, WAIT);
  const arrived = (count: number, from = receiver): Promise<unknown> =>
    until(() => expect(from.received.length).toBeGreaterThanOrEqual(count));
  const settled = (id: string, statuses: readonly string[]): Promise<unknown> =>
    until(async () =>
      expect((await deliveriesOf(id)).map(({ status }) => status)).toEqual(statuses),
    );
  const objects = (from = receiver): unknown[] =>
    from.received.map(({ body }) => body.objectId);

  // Waits until the event about the creation of the key has its number, which must happen before
  // the first endpoint exists.
  await until(async () =>
    expect((await services.events.list(actor, { after: 0, limit: 1 })).lastSequence).toBe(1),
  );

  beforeEach(async () => {
    const { data } = await services.webhooks.list(projectId, { limit: 1000 });
    for (const { id } of data) await services.webhooks.remove(actor, id);
    for (const one of [receiver, other]) {
      one.received.length = 0;
      one.answer((response) => response.writeHead(200).end());
    }
  });

  return {
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
  };
};

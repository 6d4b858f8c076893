import { expect, inject, test, vi } from "vitest";
import { recordEventsOn } from "@/lib/news/events/service";
import { testApi } from "@/lib/dev/testing/api";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";
import { workerProcesses } from "@/lib/dev/testing/worker-process";
import { afterFile } from "@/lib/dev/testing/after-file";

const OBJECTS = 20;
const EVENTS_EACH = inject("isLong") ? 40 : 10;
/** `npm test` kills only a few times. */
const KILLS = inject("isLong") ? 20 : 2;
/** Several starts of a worker, on a machine that is busy with other things. */
const TEST_MS = inject("isLong") ? 600_000 : 180_000;

const api = await testApi({ devnet: false });
const { services } = api;
const { config, database } = services;
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
const { start } = workerProcesses();

const variables = {
  CAUSEWAY_ENV: "development",
  DATABASE_URL: config.databaseUrl,
  LOG_LEVEL: "error",
  APP_SECRET: config.appSecret,
  KEY_ENCRYPTION_KEY: Buffer.from(config.keyEncryptionKeys[0]).toString("hex"),
};
const objectOf = (n: number): string => `op_${String(n).padStart(3, "0")}`;

/** While nobody delivers, creates events of all objects in turn. */
const happen = async (from: number, to: number): Promise<void> => {
  for (let n = from; n < to; n += 1)
    await database.rawTransaction((sql) =>
      recordEventsOn(
        sql,
        Array.from({ length: OBJECTS }, (_, object) => {
          const objectId = objectOf(object);
          return {
            projectId,
            type: "operation.processing" as const,
            objectId,
            data: { n },
            at: new Date(),
          };
        }),
      ),
    );
};

test(
  `kill -9 ${String(KILLS)} times amid deliveries: each event arrives, under one id, and in order for each object`,
  async () => {
    const input = {
      url: receiver.url,
      events: ["operation.*"],
      payload: "full",
      includePrivate: false,
    } as const;
    const { endpoint } = await services.webhooks.create(actor, input);
    let alive = await start(variables);
    let next = start(variables);
    afterFile(async () => {
      alive.kill();
      (await next).kill();
    });
    await alive.begin();
    const total = OBJECTS * EVENTS_EACH;
    const perKill = Math.floor(total / (KILLS + 1));
    // The worker is killed regularly before it has the answer to its request.
    let killed = 0;
    receiver.answer((response) => {
      if (killed < KILLS && receiver.received.length > (killed + 1) * perKill) {
        killed += 1;
        alive.kill();
        response.destroy();
        return;
      }
      response.writeHead(200).end();
    });
    for (let round = 0; round < KILLS; round += 1) {
      const each = Math.ceil(EVENTS_EACH / KILLS);
      await happen(round * each, Math.min(EVENTS_EACH, (round + 1) * each));
    }
    for (let round = 0; round < KILLS; round += 1) {
      await alive.exited;
      alive = await next;
      next = start(variables);
      // The leases of the dead worker end by time-out; the test does not wait for that.
      await database.pool.query(
        "UPDATE webhook_lane SET locked_until = now() - interval '1 second'",
      );
      await alive.begin();
    }
    await vi.waitFor(
      async () => expect((await services.webhooks.get(projectId, endpoint.id)).pending).toBe(0),
      {
        timeout: 120_000,
        interval: 100,
      },
    );
    expect(killed).toBe(KILLS);
    const firsts = new Map<string, { objectId: string; n: number }>();
    for (const { headers, body } of receiver.received) {
      const id = String(headers["webhook-id"]);
      if (!firsts.has(id))
        firsts.set(id, { objectId: String(body.objectId), n: Number(body.objectSequence) });
    }
    // Each event was received at least once by its id; repeats were of events that had been sent
    // before.
    expect(firsts.size).toBe(total);
    for (let object = 0; object < OBJECTS; object += 1) {
      const order = [...firsts.values()]
        .filter(({ objectId }) => objectId === objectOf(object))
        .map(({ n }) => n);
      expect(order).toEqual(Array.from({ length: EVENTS_EACH }, (_, index) => index + 1));
    }
    const { rows } = await database.pool.query(
      "SELECT status, count(*)::int FROM webhook_delivery GROUP BY status",
    );
    expect(rows).toEqual([{ status: "delivered", count: total }]);
  },
  TEST_MS,
);

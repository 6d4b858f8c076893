/**
 * Statements on events and deliveries on a cluster, from an event to its delivery, notification and
 * sweep: one node executes each.
 */
import { expect, test, vi } from "vitest";
import { getDelivery } from "@/lib/contracts/webhook-deliveries";
import { createChangesRepository } from "@/lib/news/feed/repository";
import { deliveryBacklog } from "@/lib/money/webhooks/repository";
import { sqlOn } from "@/lib/platform/db/sql";
import { recordStatements } from "@/lib/dev/testing/recorded-statements";
import { notOnOneShard, touches } from "@/lib/dev/testing/shard-tasks";
import { webhookDeliveries } from "@/lib/dev/testing/webhook-deliveries";

const TABLES = ["event", "event_counter", "webhook_delivery", "webhook_attempt"];

const {
  services,
  database,
  key,
  projectId,
  receiver,
  actor,
  happen,
  endpoint,
  deliveriesOf,
  arrived,
} = await webhookDeliveries();
const statements = recordStatements();

test("each statement on events, deliveries and attempts goes to one shard", async () => {
  const { id } = await endpoint({ events: ["operation.*", "member.joined"] });
  receiver.answer((response, _, turn) => response.writeHead(turn === 2 ? 500 : 200).end());
  for (const objectId of ["op_1", "op_2"]) await happen(objectId);
  await happen("usr_1", "member.joined");
  await arrived(3);
  await vi.waitFor(
    async () =>
      expect((await deliveriesOf(id)).every(({ attempts }) => attempts === 1)).toBe(true),
    20_000,
  );
  const [delivery] = await deliveriesOf(id);
  await key.client.call(getDelivery, { params: { id: delivery?.id ?? "" } });
  await services.webhooks.deliveries.resend(actor, delivery?.id ?? "");
  await services.webhooks.deliveries.test(actor, id);
  await services.webhooks.deliveries.replay(actor, id, { from: 1, to: 4 });
  await arrived(6);
  await services.events.list(actor, { after: 0, limit: 10 });
  const changes = createChangesRepository(database);
  const head = await changes.head(projectId);
  await changes.recent({ projectId, ...head }, new Date(0), 10);
  await changes.newer([{ projectId, events: 0, audit: 0 }], 10);
  await deliveryBacklog(sqlOn(database.pool));
  await services.notifying.makeDue();
  await services.sweep();
  await services.webhooks.remove(actor, id);

  const found = [...statements.values()].filter(touches(TABLES));
  for (const table of TABLES)
    expect(found.filter(touches([table])).length, table).toBeGreaterThan(1);
  expect(await notOnOneShard(database.pool, found)).toEqual([]);
}, 120_000);

import { expect, test } from "vitest";
import { listEvents } from "@/lib/contracts/events";
import { archiveMonth, restoreMonth } from "@/lib/platform/db/archive/archive";
import { makeWorkspace } from "@/lib/dev/testing/workspace";
import { afterFile } from "@/lib/dev/testing/after-file";
import { asOwner } from "@/lib/dev/testing/database";
import { ownerUrlOf } from "@/lib/dev/testing/owner-urls";
import { webhookDeliveries } from "@/lib/dev/testing/webhook-deliveries";

const MONTH = "2026-01";
const IN_IT = Date.parse("2026-01-15T12:00:00Z");

const { moved, services, key, actor, happen, endpoint, deliveriesOf, settled } =
  await webhookDeliveries();
const { folder, remove } = await makeWorkspace();
afterFile(remove);

test("the list of events names the file of an archived month, whose events are neither sent again nor replayed without their data", async () => {
  const request = {
    url: ownerUrlOf(services.config.databaseUrl),
    month: MONTH,
    directory: folder,
  };
  const list = (after: number) => key.client.call(listEvents, { query: { after } });
  const { lastSequence: last } = await list(0);
  const { id } = await endpoint();
  // The sequencer gives an event at least the time of the previous one, so events in January need
  // earlier events before them.
  await asOwner(services.config.databaseUrl, "UPDATE event SET created_at = '2025-12-31'");
  moved.ms = IN_IT - Date.now();
  await happen("op_old", "operation.processing");
  await happen("op_old", "operation.completed");
  await settled(id, ["delivered", "delivered"]);
  const [newest, first] = await deliveriesOf(id);
  const range = { from: last + 1, to: last + 2 };
  const { deliveries } = services.webhooks;

  await archiveMonth(request);
  moved.ms = 0;
  const archived = {
    month: MONTH,
    firstSequence: last + 1,
    lastSequence: last + 2,
    file: `${MONTH}/event.csv.gz`,
  };
  // The last event of the object is not archived.
  const page = await list(last);
  expect([page.data.map(({ sequence }) => sequence), page.archived]).toEqual([
    [last + 2],
    archived,
  ]);
  expect((await list(last + 2)).archived).toBeNull();
  await expect(deliveries.replay(actor, id, range)).rejects.toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining(archived.file) as string,
  });
  await expect(deliveries.get(actor, first?.id ?? "")).rejects.toMatchObject({
    code: "not_found",
  });
  expect(await deliveriesOf(id)).toEqual([]);

  // A delivery that was not removed, because it was changed after the files were written.
  await restoreMonth(request);
  await services.database.pool.query("UPDATE webhook_delivery SET last_error = 'later'");
  await archiveMonth(request);
  await expect(deliveries.resend(actor, first?.id ?? "")).rejects.toMatchObject({
    code: "invalid_state",
  });
  expect(await deliveriesOf(id)).toHaveLength(2);
  expect((await deliveries.resend(actor, newest?.id ?? "")).kind).toBe("resend");

  await restoreMonth(request);
  expect((await list(last)).archived).toBeNull();
  expect(await deliveries.replay(actor, id, range)).toEqual({ queued: 2 });
});

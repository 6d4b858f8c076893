/**
 * This version continues to run after the next version has migrated the database, as in an upgrade
 * without downtime.
 */
import { test } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { mainJourney } from "@/lib/dev/testing/main-journey";
import { migrateToNextVersion } from "@/lib/dev/testing/next-version";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";

const api = await testApi({ worker: true });
const receiver = await webhookReceiver();

test("money is moved as before on the database of the next version, also over connections from before its migration", async () => {
  await mainJourney(api, receiver);
  await migrateToNextVersion(api);
  // Prepared statements of existing connections expect fewer columns.
  await mainJourney(api, receiver);
}, 300_000);

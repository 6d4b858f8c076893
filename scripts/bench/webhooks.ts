/**
 * `npm run bench webhooks`: measures how much events cost the ledger, and how fast they are
 * delivered to a receiver on this machine. A benchmark, not a test.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createServices, type Services } from "../../lib/composition";
import { loadConfig } from "../../lib/platform/config/env";
import { SCOPES } from "../../lib/contracts/contract";
import { newId } from "../../lib/core/ids";
import { startEmbeddedPostgres } from "../../lib/stack/postgres/embedded-postgres";
import { migrateDeploy } from "../../lib/platform/db/migrate";
import type { Sql } from "../../lib/platform/db/sql";
import { type NewEvent, recordEventsOn } from "../../lib/news/events/service";
import { makeWorkspace } from "../../lib/dev/testing/workspace";
import { seedAccounts } from "./ledger-seed";
import { median } from "./harness";

const ACCOUNTS = 100_000;
const BATCH = 256;
const ROUNDS = 5;
const MEASURE_MS = 4_000;
const EVENTS_PER_SECOND = 2_000;
const DELIVERIES = 10_000;
const OBJECTS = 1_000;
const SINGLE = 200;
const PAUSE_MS = 30;
const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Stage {
  readonly services: Services;
  readonly projectId: string;
  readonly accounts: readonly string[];
}

const eventOf = (projectId: string, objectId: string): NewEvent => ({
  projectId,
  type: "operation.processing",
  objectId,
  data: {
    operationId: objectId,
    kind: "swap",
    status: "processing",
    subStatus: "bridging",
    failure: null,
  },
  at: new Date(),
});

/**
 * Executes transfers between random accounts, in batches as the ledger groups them. Each batch also
 * writes as many events as keep the rate at `eventsPerSecond`.
 */
const spread = async (
  { services, projectId, accounts }: Stage,
  eventsPerSecond: number,
): Promise<number> => {
  const from = performance.now();
  let [posted, written] = [0, 0];
  const pick = (): string =>
    `ga_${accounts[Math.floor(Math.random() * accounts.length)] ?? ""}`;
  const transfer = () => {
    const own = {
      kind: "transfer",
      projectId,
      key: randomUUID(),
      by: "bench",
      amountBase: 1n,
      currency: "usdc",
    } as const;
    const [source, target] = [pick(), pick()];
    return { ...own, from: source, to: source === target ? pick() : target };
  };
  const also = async (sql: Sql): Promise<void> => {
    const due = Math.floor(((performance.now() - from) / 1000) * eventsPerSecond) - written;
    written += Math.max(0, due);
    await recordEventsOn(
      sql,
      Array.from({ length: Math.max(0, due) }, () => eventOf(projectId, newId("operation"))),
    );
  };
  while (performance.now() - from < MEASURE_MS) {
    const commands = Array.from({ length: BATCH }, transfer);
    posted += (
      await services.ledger.together({ prepare: () => Promise.resolve(commands), also })
    ).length;
  }
  return (posted / (performance.now() - from)) * 1000;
};

const benchCost = async (stage: Stage): Promise<void> => {
  await spread(stage, 0);
  const [without, withEvents]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    without.push(await spread(stage, 0));
    withEvents.push(await spread(stage, EVENTS_PER_SECOND));
  }
  const [plain, loaded] = [median(without), median(withEvents)];
  const cost = ((1 - loaded / plain) * 100).toFixed(1);
  console.log(
    `ledger, spread: ${plain.toFixed(0)}/s without events, ${loaded.toFixed(0)}/s with ${String(EVENTS_PER_SECOND)} events/s`,
  );
  console.log(`cost of the events, numbering included: ${cost} % (goal: at most 5 %)`);
};

/** Starts a receiver of webhooks that records when each event arrived. */
const startReceiver = async () => {
  const cameAt = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers["webhook-id"]);
    request.resume();
    request.on("end", () => {
      if (!cameAt.has(id)) cameAt.set(id, performance.now());
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}/`, cameAt, close: () => server.close() };
};

const benchDeliveries = async ({ services, projectId }: Stage): Promise<void> => {
  const { database, webhooks } = services;
  const receiver = await startReceiver();
  const actor = {
    type: "apiKey",
    keyId: "key_bench",
    projectId,
    createdBy: "usr_bench",
    scopes: SCOPES,
    policy: { otp: "required", dailyCapUsd: null, recipients: [] },
  } as const;
  await webhooks.create(actor, {
    url: receiver.url,
    events: ["*"],
    payload: "full",
    includePrivate: false,
  });
  const write = (events: readonly NewEvent[]): Promise<void> =>
    database.rawTransaction((sql) => recordEventsOn(sql, events));
  const arrived = async (count: number): Promise<void> => {
    while (receiver.cameAt.size < count) await sleep(5);
  };
  const waits: number[] = [];
  for (let n = 1; n <= SINGLE; n += 1) {
    await write([eventOf(projectId, newId("operation"))]);
    const from = performance.now();
    await arrived(n);
    waits.push(Math.max(...receiver.cameAt.values()) - from);
    await sleep(PAUSE_MS * Math.random());
  }
  console.log(`state to delivery, p50: ${median(waits).toFixed(0)} ms (goal: at most 150 ms)`);
  const objects = Array.from({ length: OBJECTS }, () => newId("operation"));
  for (let n = 0; n < DELIVERIES / OBJECTS; n += 1)
    await write(objects.map((object) => eventOf(projectId, object)));
  const from = performance.now();
  await arrived(SINGLE + DELIVERIES);
  const rate = (DELIVERIES / (performance.now() - from)) * 1000;
  console.log(`deliveries to one receiver: ${rate.toFixed(0)}/s (goal: at least 500/s)`);
  receiver.close();
};

export const run = async (): Promise<void> => {
  const workspace = await makeWorkspace();
  const postgres = await startEmbeddedPostgres({
    dataDir: `${workspace.folder}/postgres`,
    durability: "full",
  });
  try {
    await postgres.ensureDatabase("bench");
    const url = postgres.url("bench");
    await migrateDeploy(url, MIGRATIONS);
    const secret = (): string => `dev_${randomBytes(32).toString("hex")}`;
    const own = {
      DATABASE_URL: url,
      LOG_LEVEL: "warn",
      APP_SECRET: secret(),
      KEY_ENCRYPTION_KEY: secret(),
    };
    const services = createServices(loadConfig(own));
    const projectId = newId("project");
    const accounts = await seedAccounts(services.database.pool, projectId, ACCOUNTS);
    const sending = services.startWebhooks("bench");
    await benchCost({ services, projectId, accounts });
    // All events of the first measurement must be sequenced before deliveries are measured.
    while ((await services.database.prisma.eventOutbox.count()) > 0) await sleep(50);
    await benchDeliveries({ services, projectId, accounts });
    await sending.stop();
    await services.close();
  } finally {
    await postgres.stop();
    workspace.remove();
  }
};

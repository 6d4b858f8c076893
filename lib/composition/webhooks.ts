import { acrossCallbacks } from "@/lib/adapters/across/callbacks";
import { relayCallbacks } from "@/lib/adapters/relay/callbacks";
import { createWebhookSender } from "@/lib/adapters/webhook-http/sender";
import { createLayout, keptSqlOn, type Sql } from "@/lib/platform/db/sql";
import { inRawTransaction } from "@/lib/platform/db/client";
import { createPool } from "@/lib/platform/db/pool";
import {
  callbackMetrics,
  deliveryMetrics,
  webhookSampler,
} from "@/lib/composition/metrics/metrics";
import { createCallbacksRepository } from "@/lib/money/callbacks/repository";
import { createCallbacksService } from "@/lib/money/callbacks/service";
import { CHANGE_CHANNEL } from "@/lib/news/feed/service";
import { outboxBacklog } from "@/lib/news/events/repository";
import { createSequencer } from "@/lib/news/events/sequencer";
import type { SequencedRange } from "@/lib/news/events/service";
import { queueNews } from "@/lib/money/notifications/service";
import { countEndpointStates, deliveryBacklog } from "@/lib/money/webhooks/repository";
import { startDeliveryRunner } from "@/lib/money/webhooks/runner";
import { createWebhookReceiver } from "@/lib/money/webhooks/receiver";
import {
  createWebhooksService,
  fanOutEvents,
  type WebhooksService,
} from "@/lib/money/webhooks/service";
import type { WebhookSender } from "@/lib/money/ports/webhook-sender";
import type { Platform } from "./platform";
import type { Identity } from "./identity";

export const buildWebhooks = (
  platform: Platform,
  {
    approvals,
    projects,
    sessionMade,
  }: Pick<Identity, "approvals" | "projects" | "sessionMade">,
) => {
  const { config, overrides, database, keyring, clock } = platform;
  const { publicUrl } = config;
  const sender =
    overrides.webhookSender ??
    createWebhookSender({ allowLoopback: config.env === "development" });
  const webhooks = createWebhooksService({
    database,
    keys: keyring,
    sender,
    approvals,
    projects,
    sessionMade,
    publicUrl,
    clock,
  });
  return {
    webhooks,
    webhookSender: sender,
    webhookReceiver: buildReceiver(platform, webhooks),
    callbacks: buildCallbacks(platform),
    sending: buildSending(platform, webhooks, sender),
  };
};

/** The sequencer and the deliveries, on separate connections if there are enough. */
const buildSending = (
  { config, shares, clock, database, listener, errorLog: log }: Platform,
  webhooks: WebhooksService,
  webhookSender: WebhookSender,
) => {
  const { databaseUrl, isDatabasePooled: isPooled } = config;
  const own =
    shares.webhooks === 0 ? null : createPool(databaseUrl, { max: shares.webhooks, isPooled });
  const pool = own ?? database.pool;
  const sql = keptSqlOn(pool);
  // Lets transactions on the pool check whether tables are distributed.
  createLayout(pool);
  const transaction = <T>(work: (tx: Sql) => Promise<T>): Promise<T> =>
    inRawTransaction(pool, work, keptSqlOn);
  const start = (workerId: string): { stop(): Promise<void> } => {
    const { secretsOf, disable } = webhooks;
    const common = {
      sql,
      clock,
      log,
      metrics: deliveryMetrics,
      random: Math.random,
      secretsOf,
      disable,
    };
    // Results are stored without cached plans. A plan from a time with few waiting deliveries would
    // take seconds with thousands of them.
    const store = <T>(work: (tx: Sql) => Promise<T>): Promise<T> =>
      inRawTransaction(pool, work);
    const deliveries = startDeliveryRunner({
      ...common,
      transaction: store,
      sender: webhookSender,
      workerId,
    });
    const fanOut = async (tx: Sql, ranges: readonly SequencedRange[]): Promise<number> => {
      const [made] = await Promise.all([
        fanOutEvents(tx, ranges, clock.now()),
        queueNews(tx, ranges),
      ]);
      return made;
    };
    const onSequenced = (ranges: readonly SequencedRange[], made: number): void => {
      if (made > 0) deliveries.wake();
      listener.tell(
        ranges.map(({ projectId }) => ({ channel: CHANGE_CHANNEL, payload: projectId })),
      );
    };
    const sequencer = createSequencer({
      sql,
      transaction,
      fanOut,
      log,
      onSequenced,
      listener,
    }).start();
    return {
      stop: async () => {
        await sequencer.stop();
        await deliveries.stop();
      },
    };
  };
  const close = async (): Promise<void> => {
    webhookSender.close();
    await own?.end();
  };
  const sampler = webhookSampler({
    events: () => outboxBacklog(sql),
    deliveries: () => deliveryBacklog(sql),
    endpoints: () => countEndpointStates(sql),
    clock,
  });
  return { start, close, sampler };
};

/** The receiver accepts requests without authentication, so it exists only in development. */
const buildReceiver = (
  { config: { env, publicUrl }, secrets, clock }: Platform,
  endpoints: WebhooksService,
) => {
  if (env !== "development") return null;
  return createWebhookReceiver({
    key: secrets.derive("webhook-receiver")[0],
    publicUrl,
    clock,
    endpoints,
  });
};

const buildCallbacks = ({ config, database, clock }: Platform) =>
  createCallbacksService({
    repository: createCallbacksRepository(database),
    senders: {
      shared: config.webhookSecret,
      providers: [
        { ...relayCallbacks, secret: config.relayWebhookSecret },
        { ...acrossCallbacks, secret: config.acrossWebhookSecret },
      ],
    },
    clock,
    metrics: callbackMetrics,
  });

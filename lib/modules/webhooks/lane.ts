import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@/lib/core/clock";
import type { Sql } from "@/lib/db/sql";
import type { WebhookAnswer, WebhookSender } from "@/lib/ports/webhook-sender";
import { bodyOf } from "./body";
import { readEndpoint, type EndpointRow } from "./endpoint-repository";
import {
  dueDeliveries,
  failingSince,
  recordResults,
  releaseLane,
  type DueDelivery,
  type LaneKey,
  type Result,
} from "./lane-repository";
import { FAILING_MAX_MS, nextAttempt, retryAfterMs } from "./schedule";
import { signedHeaders } from "./signature";

export interface DeliveryMetrics {
  delivered(lagMs: number): void;
  attempted(outcome: "delivered" | "retry" | "failed", durationMs: number): void;
}

export interface LaneDeps {
  readonly sql: Sql;
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly random: () => number;
  readonly metrics: DeliveryMetrics;
  readonly log: { warn(fields: object, message: string): void };
  /** In clear, those that sign now. */
  secretsOf(lane: LaneKey): Promise<readonly string[]>;
  /** Ends the endpoint and tells its owners; where it is not active any more nothing happens. */
  disable(lane: LaneKey, reason: "gone" | "failing"): Promise<void>;
}

export interface Lane {
  /** There may be something new to deliver. */
  wake(): void;
  /** Begins no more requests, and finishes with those under way. */
  drain(): void;
  readonly finished: Promise<void>;
}

interface Open {
  readonly endpoint: EndpointRow;
  readonly secrets: readonly string[];
}

const GONE = 410;
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);
/** Deliveries that are read at once. */
const PAGE = 200;
/** So long what was read of the endpoint counts: a pause or a new secret takes effect within it. */
const OPENED_MS = 500;
const RETRY_MS = 1000;

const isSuccess = ({ statusCode }: WebhookAnswer): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

/**
 * Delivers to one endpoint until nothing is due or `signal` aborts: so many requests at once as the endpoint takes, and of each object one
 * after the other. A delivery counts as made once that is stored; a crash before repeats it, under the same event id.
 */
export const startLane = (deps: LaneDeps, key: LaneKey, { workerId, signal }: LaneOptions): Lane => {
  const { sql, clock } = deps;
  /** Read, and not yet stored as made or failed. */
  const underWay = new Set<string>();
  let queue: DueDelivery[] = [];
  /** Objects with a request under way, or one that failed and is not stored yet: their later events wait. */
  const busy = new Set<string>();
  let requests = 0;
  let opened: (Open & { readonly sinceMs: number }) | null = null;
  let results: (Result & { readonly objectId: string })[] = [];
  let notify: (() => void) | null = null;
  let isWoken = false;
  let isDraining = false;

  const wake = (): void => {
    isWoken = true;
    notify?.();
  };
  const woken = async (): Promise<void> => {
    if (!isWoken) await new Promise<void>((resolve) => (notify = resolve));
    notify = null;
    isWoken = false;
  };
  signal.addEventListener("abort", wake, { once: true });

  const open = async (): Promise<void> => {
    const sinceMs = performance.now();
    if (opened !== null && sinceMs - opened.sinceMs < OPENED_MS) return;
    const endpoint = await readEndpoint(sql, key.projectId, key.endpointId);
    opened = endpoint?.status === "active" ? { endpoint, secrets: await deps.secretsOf(key), sinceMs } : null;
  };

  const isOpen = (): boolean => !signal.aborted && !isDraining;

  /** What is given up here is read again once it may be made. */
  const drop = (isDropped: (delivery: DueDelivery) => boolean): void => {
    for (const delivery of queue) if (isDropped(delivery)) underWay.delete(delivery.id);
    queue = queue.filter(({ id }) => underWay.has(id));
  };

  const release = (objectId: string): void => {
    busy.delete(objectId);
    drop((delivery) => delivery.objectId === objectId);
  };

  const resultOf = (
    delivery: DueDelivery,
    sent: { url: string; at: Date; headers: Readonly<Record<string, string>>; body: string },
    answer: WebhookAnswer,
  ): Result => {
    const { statusCode, headers, body, error, durationMs } = answer;
    const now = clock.now();
    const asked = ASKS_TO_WAIT.has(statusCode ?? 0) ? retryAfterMs(headers["retry-after"], now) : null;
    const again = nextAttempt(delivery.attempts + 1, { now, random: deps.random, retryAfter: asked });
    const status = isSuccess(answer) ? "delivered" : again === null || statusCode === GONE ? "failed" : "pending";
    const { id, attempts } = delivery;
    const request = { at: sent.at, url: sent.url, requestHeaders: sent.headers, requestBody: sent.body };
    const response = { statusCode, responseHeaders: headers, responseBody: body, error, durationMs };
    return { id, attempts, status, dueAt: again ?? now, ...request, ...response };
  };

  const deliver = async (delivery: DueDelivery, { endpoint, secrets }: Open): Promise<void> => {
    const at = clock.now();
    const body = bodyOf(delivery, endpoint);
    const headers = signedHeaders(secrets, { id: delivery.eventId, at, body });
    const { url } = endpoint;
    const answer = await deps.sender.send({ url, headers, body, signal });
    // Whoever has the lane next makes it again; what became of this request is not known here.
    if (signal.aborted && answer.statusCode === null) {
      underWay.delete(delivery.id);
      release(delivery.objectId);
      return;
    }
    const result = resultOf(delivery, { url, at, headers, body }, answer);
    const outcome = result.status === "pending" ? "retry" : result.status;
    deps.metrics.attempted(outcome, answer.durationMs);
    if (outcome === "delivered") deps.metrics.delivered(clock.now().getTime() - delivery.createdAt.getTime());
    results.push({ ...result, objectId: delivery.objectId });
    if (outcome === "delivered") busy.delete(delivery.objectId);
  };

  /** Requests go on while results are stored, and what gathers meanwhile is stored at once. */
  const launch = (): void => {
    while (opened !== null && isOpen() && requests < opened.endpoint.concurrency) {
      const place = queue.findIndex(({ objectId }) => !busy.has(objectId));
      const [delivery] = place === -1 ? [] : queue.splice(place, 1);
      if (delivery === undefined) return;
      requests += 1;
      busy.add(delivery.objectId);
      void deliver(delivery, opened)
        .catch((error: unknown) => {
          deps.log.warn({ err: error, deliveryId: delivery.id }, "a webhook could not be sent");
          underWay.delete(delivery.id);
          release(delivery.objectId);
        })
        .finally(() => {
          requests -= 1;
          launch();
          wake();
        });
    }
  };

  /** Disables what is gone, or has failed for too long. */
  const judge = async (batch: readonly Result[]): Promise<void> => {
    if (batch.some(({ statusCode }) => statusCode === GONE)) {
      await deps.disable(key, "gone");
      return;
    }
    if (batch.every(({ status }) => status === "delivered")) return;
    const since = await failingSince(sql, key);
    if (since !== null && clock.now().getTime() - since.getTime() >= FAILING_MAX_MS) await deps.disable(key, "failing");
  };

  /** What came in while the last batch was stored is the next batch. */
  const store = async (): Promise<void> => {
    const batch = results;
    if (batch.length === 0) return;
    results = [];
    try {
      await deps.transaction((tx) => recordResults(tx, key, { results: batch, now: clock.now() }));
    } catch (error) {
      results = [...batch, ...results];
      throw error;
    }
    for (const { id, status, objectId } of batch) {
      underWay.delete(id);
      if (status !== "delivered") release(objectId);
    }
    await judge(batch);
  };

  const refill = async (): Promise<void> => {
    await open();
    if (opened === null) {
      drop(() => true);
      return;
    }
    if (queue.length < PAGE / 4) {
      const page = { now: clock.now(), underWay: [...underWay], limit: PAGE };
      const due = await dueDeliveries(sql, { ...key, ...page });
      for (const { id } of due) underWay.add(id);
      queue.push(...due);
    }
    launch();
  };

  const run = async (): Promise<void> => {
    for (;;) {
      await store();
      if (isOpen()) await refill();
      else drop(() => true);
      if (underWay.size === 0 && results.length === 0 && !(isWoken && isOpen())) break;
      await woken();
    }
    await deps.transaction((tx) => releaseLane(tx, key, { workerId, now: clock.now() }));
  };

  const persist = async (): Promise<void> => {
    for (;;) {
      try {
        await run();
        return;
      } catch (error) {
        // The database is away. The lease may run out meanwhile, and then the lane is somebody else's.
        deps.log.warn({ err: error, ...key }, "an endpoint's deliveries could not be stored; trying again");
        await sleep(RETRY_MS);
        if (signal.aborted) return;
      }
    }
  };

  const drain = (): void => {
    isDraining = true;
    wake();
  };

  return { wake, drain, finished: persist() };
};

interface LaneOptions {
  readonly workerId: string;
  /** Aborts when the lease is lost or the worker stops. */
  readonly signal: AbortSignal;
}

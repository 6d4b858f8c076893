import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@/lib/core/clock";
import type { Sql } from "@/lib/db/sql";
import type { WebhookSender } from "@/lib/ports/webhook-sender";
import { attemptResult, GONE } from "./attempt-result";
import { deliveryBody } from "./delivery-body";
import { createDeliveryQueue, type DeliveryQueue } from "./delivery-queue";
import {
  dueDeliveries,
  failingSince,
  recordResults,
  type DueDelivery,
  type EndpointKey,
  type Result,
} from "./due-delivery-repository";
import { readEndpoint, type EndpointRow } from "./endpoint-repository";
import { releaseEndpoint } from "./lease-repository";
import { FAILING_MAX_MS } from "./retry-schedule";
import { signedHeaders } from "./signature";

export interface DeliveryMetrics {
  delivered(lagMs: number): void;
  attempted(outcome: "delivered" | "retry" | "failed", durationMs: number): void;
}

export interface EndpointDeliveryDeps {
  readonly sql: Sql;
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly random: () => number;
  readonly metrics: DeliveryMetrics;
  readonly log: { warn(fields: object, message: string): void };
  /** The secrets that sign now, decrypted. */
  secretsOf(endpoint: EndpointKey): Promise<readonly string[]>;
  /** Disables the endpoint and mails its owners; does nothing when it is not active any more. */
  disable(endpoint: EndpointKey, reason: "gone" | "failing"): Promise<void>;
}

export interface EndpointDelivery {
  /** There may be something new to deliver. */
  wake(): void;
  /** Starts no more requests, and finishes those under way. */
  drain(): void;
  readonly finished: Promise<void>;
}

interface DeliveryOptions {
  readonly workerId: string;
  /** Aborts when the lease is lost or the worker stops. */
  readonly signal: AbortSignal;
}

/** The endpoint as it was read last. */
interface Opened {
  readonly endpoint: EndpointRow;
  readonly secrets: readonly string[];
  readonly sinceMs: number;
}

/** One run of deliveries to one endpoint. */
interface Run {
  readonly deps: EndpointDeliveryDeps;
  readonly key: EndpointKey;
  readonly workerId: string;
  readonly signal: AbortSignal;
  readonly queue: DeliveryQueue;
  readonly wakeUp: WakeUp;
  /** Null while the endpoint is not active. */
  opened: Opened | null;
  requests: number;
  /** Outcomes that are not stored yet. */
  results: (Result & { readonly objectId: string })[];
  isDraining: boolean;
}

interface WakeUp {
  wake(): void;
  isWoken(): boolean;
  /** Resolves after the next `wake`, or at once when there was one since the last call. */
  wait(): Promise<void>;
}

/** Deliveries that are read at once. */
const PAGE = 200;
/** The endpoint is read again after this time, so a pause or a new secret takes effect within it. */
const OPENED_MS = 500;
const RETRY_MS = 1000;

const createWakeUp = (): WakeUp => {
  let notify: (() => void) | null = null;
  let isWoken = false;
  return {
    isWoken: () => isWoken,
    wake: () => {
      isWoken = true;
      notify?.();
    },
    wait: async () => {
      if (!isWoken) await new Promise<void>((resolve) => (notify = resolve));
      notify = null;
      isWoken = false;
    },
  };
};

const maySend = (run: Run): boolean => !run.signal.aborted && !run.isDraining;

const openEndpoint = async (run: Run): Promise<void> => {
  const { deps, key } = run;
  const sinceMs = performance.now();
  if (run.opened !== null && sinceMs - run.opened.sinceMs < OPENED_MS) return;
  const endpoint = await readEndpoint(deps.sql, key.projectId, key.endpointId);
  run.opened = endpoint?.status === "active" ? { endpoint, secrets: await deps.secretsOf(key), sinceMs } : null;
};

const deliver = async (run: Run, delivery: DueDelivery, { endpoint, secrets }: Opened): Promise<void> => {
  const { deps, queue, signal } = run;
  const at = deps.clock.now();
  const body = deliveryBody(delivery, endpoint);
  const headers = signedHeaders(secrets, { id: delivery.eventId, at, body });
  const { url } = endpoint;
  const answer = await deps.sender.send({ url, headers, body, signal });
  // The request was aborted, so its outcome is unknown. The next holder of the lease sends it again.
  if (signal.aborted && answer.statusCode === null) {
    queue.forget(delivery.id);
    queue.release(delivery.objectId);
    return;
  }
  const times = { now: deps.clock.now(), random: deps.random };
  const result = attemptResult(delivery, { sent: { url, at, headers, body }, answer }, times);
  const outcome = result.status === "pending" ? "retry" : result.status;
  deps.metrics.attempted(outcome, answer.durationMs);
  if (outcome === "delivered") deps.metrics.delivered(deps.clock.now().getTime() - delivery.createdAt.getTime());
  run.results.push({ ...result, objectId: delivery.objectId });
  if (outcome === "delivered") queue.free(delivery.objectId);
};

/** Starts as many requests as the endpoint takes at once. They go on while results are stored. */
const launch = (run: Run): void => {
  const { queue } = run;
  while (run.opened !== null && maySend(run) && run.requests < run.opened.endpoint.concurrency) {
    const delivery = queue.take();
    if (delivery === undefined) return;
    run.requests += 1;
    void deliver(run, delivery, run.opened)
      .catch((error: unknown) => {
        run.deps.log.warn({ err: error, deliveryId: delivery.id }, "a webhook could not be sent");
        queue.forget(delivery.id);
        queue.release(delivery.objectId);
      })
      .finally(() => {
        run.requests -= 1;
        launch(run);
        run.wakeUp.wake();
      });
  }
};

/** Disables an endpoint that is gone, or has failed for too long. */
const disableIfDead = async ({ deps, key }: Run, batch: readonly Result[]): Promise<void> => {
  if (batch.some(({ statusCode }) => statusCode === GONE)) {
    await deps.disable(key, "gone");
    return;
  }
  if (batch.every(({ status }) => status === "delivered")) return;
  const since = await failingSince(deps.sql, key);
  if (since !== null && deps.clock.now().getTime() - since.getTime() >= FAILING_MAX_MS)
    await deps.disable(key, "failing");
};

/** Stores the results as one batch. Results that come in meanwhile are the next batch. */
const storeResults = async (run: Run): Promise<void> => {
  const { deps, queue, results: batch } = run;
  if (batch.length === 0) return;
  run.results = [];
  try {
    await deps.transaction((tx) => recordResults(tx, run.key, { results: batch, now: deps.clock.now() }));
  } catch (error) {
    run.results = [...batch, ...run.results];
    throw error;
  }
  for (const { id, status, objectId } of batch) {
    queue.forget(id);
    if (status !== "delivered") queue.release(objectId);
  }
  await disableIfDead(run, batch);
};

const refill = async (run: Run): Promise<void> => {
  const { deps, queue } = run;
  await openEndpoint(run);
  if (run.opened === null) {
    queue.clear();
    return;
  }
  if (queue.size() < PAGE / 4) {
    const page = { now: deps.clock.now(), underWay: [...queue.underWay], limit: PAGE };
    queue.add(await dueDeliveries(deps.sql, { ...run.key, ...page }));
  }
  launch(run);
};

const deliverAll = async (run: Run): Promise<void> => {
  const { deps, queue, wakeUp, workerId } = run;
  for (;;) {
    await storeResults(run);
    if (maySend(run)) await refill(run);
    else queue.clear();
    if (queue.underWay.size === 0 && run.results.length === 0 && !(wakeUp.isWoken() && maySend(run))) break;
    await wakeUp.wait();
  }
  await deps.transaction((tx) => releaseEndpoint(tx, run.key, { workerId, now: deps.clock.now() }));
};

const deliverUntilStored = async (run: Run): Promise<void> => {
  for (;;) {
    try {
      await deliverAll(run);
      return;
    } catch (error) {
      // The database is away. The lease may end meanwhile, and then another worker takes the endpoint.
      run.deps.log.warn({ err: error, ...run.key }, "an endpoint's deliveries could not be stored; trying again");
      await sleep(RETRY_MS);
      if (run.signal.aborted) return;
    }
  }
};

/**
 * Delivers to one endpoint until nothing is due or `signal` aborts: in parallel up to the endpoint's concurrency, and one after the other
 * for each object. A delivery counts as made once its outcome is stored; a crash before that repeats it under the same event id.
 */
export const startEndpointDelivery = (
  deps: EndpointDeliveryDeps,
  key: EndpointKey,
  { workerId, signal }: DeliveryOptions,
): EndpointDelivery => {
  const wakeUp = createWakeUp();
  const own = { queue: createDeliveryQueue(), wakeUp, opened: null, requests: 0, results: [], isDraining: false };
  const run: Run = { deps, key, workerId, signal, ...own };
  signal.addEventListener("abort", wakeUp.wake, { once: true });
  return {
    wake: wakeUp.wake,
    drain: () => {
      run.isDraining = true;
      wakeUp.wake();
    },
    finished: deliverUntilStored(run),
  };
};

import type { WebhookAnswer, WebhookSender } from "@/lib/money/ports/webhook-sender";
import { dueDeliveries, recordResults, type Result } from "./delivery-repository";
import { failingSince, releaseEndpoint } from "./lane-repository";
import {
  deliveryBody,
  FAILING_MAX_MS,
  isServed,
  nextAttempt,
  retryAfterMs,
  signedHeaders,
} from "./rules";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@/lib/core/clock";
import type { Sql } from "@/lib/platform/db/sql";
import { readEndpoint } from "./repository";
import type { DueDelivery, EndpointKey, EndpointRow } from "./rows";

/** HTTP status of a receiver that wants no further deliveries (RFC 9110, 410 Gone). */
const GONE = 410;
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

const isSuccess = ({ statusCode }: WebhookAnswer): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

interface SentRequest {
  readonly url: string;
  readonly at: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Decides from the response whether a delivery succeeded, is tried again (and when), or has failed
 * permanently.
 */
const attemptResult = (
  delivery: DueDelivery,
  { sent, answer }: { readonly sent: SentRequest; readonly answer: WebhookAnswer },
  { now, random }: { readonly now: Date; readonly random: () => number },
): Result => {
  const { statusCode, headers, body, error, durationMs } = answer;
  const retryAfter = ASKS_TO_WAIT.has(statusCode ?? 0)
    ? retryAfterMs(headers["retry-after"], now)
    : null;
  const again = nextAttempt(delivery.attempts + 1, { now, random, retryAfter });
  const status = isSuccess(answer)
    ? "delivered"
    : again === null || statusCode === GONE
      ? "failed"
      : "pending";
  const { id, attempts } = delivery;
  const request = {
    at: sent.at,
    url: sent.url,
    requestHeaders: sent.headers,
    requestBody: sent.body,
  };
  const response = {
    statusCode,
    responseHeaders: headers,
    responseBody: body,
    error,
    durationMs,
  };
  return { id, attempts, status, dueAt: again ?? now, ...request, ...response };
};

/**
 * The deliveries that one worker has read for one endpoint. Deliveries of one object are sent one
 * after another. While one of them is in progress, or has failed and is not stored yet, the
 * object's later deliveries wait.
 */
interface DeliveryQueue {
  /** Ids of deliveries that were read and whose outcome is not stored yet. */
  readonly underWay: ReadonlySet<string>;
  size(): number;
  add(deliveries: readonly DueDelivery[]): void;
  /**
   * Removes and returns the next delivery whose object is free, and marks the object as busy.
   * Undefined when no delivery can start.
   */
  take(): DueDelivery | undefined;
  /**
   * Removes a delivery from `underWay`, because its outcome is stored or the delivery is dropped.
   */
  forget(id: string): void;
  /** Allows later deliveries of the object to start. */
  free(objectId: string): void;
  /** Frees the object and drops its waiting deliveries. They are read again once they are due. */
  release(objectId: string): void;
  clear(): void;
}

const createDeliveryQueue = (): DeliveryQueue => {
  const underWay = new Set<string>();
  const busyObjects = new Set<string>();
  let waiting: DueDelivery[] = [];

  const drop = (isDropped: (delivery: DueDelivery) => boolean): void => {
    for (const delivery of waiting) if (isDropped(delivery)) underWay.delete(delivery.id);
    waiting = waiting.filter(({ id }) => underWay.has(id));
  };

  return {
    underWay,
    size: () => waiting.length,
    add: (deliveries) => {
      for (const { id } of deliveries) underWay.add(id);
      waiting.push(...deliveries);
    },
    take: () => {
      const place = waiting.findIndex(({ objectId }) => !busyObjects.has(objectId));
      const [delivery] = place === -1 ? [] : waiting.splice(place, 1);
      if (delivery !== undefined) busyObjects.add(delivery.objectId);
      return delivery;
    },
    forget: (id) => void underWay.delete(id),
    free: (objectId) => void busyObjects.delete(objectId),
    release: (objectId) => {
      busyObjects.delete(objectId);
      drop((delivery) => delivery.objectId === objectId);
    },
    clear: () => drop(() => true),
  };
};

interface DeliveryMetrics {
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
  secretsOf(endpoint: EndpointKey): Promise<readonly string[]>;
  /** Disables the endpoint and mails the owners. Does nothing when it is no longer active. */
  disable(endpoint: EndpointKey, reason: "gone" | "failing"): Promise<void>;
}

export interface EndpointDelivery {
  /** Signals that there may be new deliveries. */
  wake(): void;
  /** Starts no more requests, and waits for the requests in progress. */
  drain(): void;
  readonly finished: Promise<void>;
}

interface DeliveryOptions {
  readonly workerId: string;
  /** Aborts when the lease is lost or the worker stops. */
  readonly signal: AbortSignal;
}

interface Opened {
  readonly endpoint: EndpointRow;
  readonly secrets: readonly string[];
  readonly sinceMs: number;
}

interface Run {
  readonly deps: EndpointDeliveryDeps;
  readonly key: EndpointKey;
  readonly workerId: string;
  readonly signal: AbortSignal;
  readonly queue: DeliveryQueue;
  readonly wakeUp: WakeUp;
  /** Null while the endpoint is paused, disabled or suspended. */
  opened: Opened | null;
  requests: number;
  results: (Result & { readonly objectId: string })[];
  isDraining: boolean;
}

interface WakeUp {
  wake(): void;
  isWoken(): boolean;
  /**
   * Resolves after the next `wake`, or at once when `wake` was called since the last call of
   * `wait`.
   */
  wait(): Promise<void>;
}

const PAGE = 200;
/**
 * Milliseconds for which the endpoint's data is used before it is read again. A pause or a new
 * secret takes effect within this time.
 */
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
  run.opened =
    endpoint !== null && isServed(endpoint)
      ? { endpoint, secrets: await deps.secretsOf(key), sinceMs }
      : null;
};

const deliver = async (
  run: Run,
  delivery: DueDelivery,
  { endpoint, secrets }: Opened,
): Promise<void> => {
  const { deps, queue, signal } = run;
  const at = deps.clock.now();
  const body = deliveryBody(delivery, endpoint);
  const headers = signedHeaders(secrets, { id: delivery.eventId, at, body });
  const { url } = endpoint;
  const answer = await deps.sender.send({ url, headers, body, signal });
  // The aborted request's outcome is unknown. The next worker with the lease sends it again.
  if (signal.aborted && answer.statusCode === null) {
    queue.forget(delivery.id);
    queue.release(delivery.objectId);
    return;
  }
  const times = { now: deps.clock.now(), random: deps.random };
  const result = attemptResult(delivery, { sent: { url, at, headers, body }, answer }, times);
  const outcome = result.status === "pending" ? "retry" : result.status;
  deps.metrics.attempted(outcome, answer.durationMs);
  if (outcome === "delivered")
    deps.metrics.delivered(deps.clock.now().getTime() - delivery.createdAt.getTime());
  run.results.push({ ...result, objectId: delivery.objectId });
  if (outcome === "delivered") queue.free(delivery.objectId);
};

/** Starts requests up to the endpoint's concurrency. They continue while results are stored. */
const launch = (run: Run): void => {
  const { queue } = run;
  while (
    run.opened !== null &&
    maySend(run) &&
    run.requests < run.opened.endpoint.concurrency
  ) {
    const delivery = queue.take();
    if (delivery === undefined) return;
    run.requests += 1;
    void deliver(run, delivery, run.opened)
      .catch((error: unknown) => {
        run.deps.log.warn(
          { err: error, deliveryId: delivery.id },
          "a webhook could not be sent",
        );
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

/** Stores the results as one batch. Results that arrive meanwhile form the next batch. */
const storeResults = async (run: Run): Promise<void> => {
  const { deps, queue, results: batch } = run;
  if (batch.length === 0) return;
  run.results = [];
  try {
    await deps.transaction((tx) =>
      recordResults(tx, run.key, { results: batch, now: deps.clock.now() }),
    );
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
    if (
      queue.underWay.size === 0 &&
      run.results.length === 0 &&
      !(wakeUp.isWoken() && maySend(run))
    )
      break;
    await wakeUp.wait();
  }
  await deps.transaction((tx) =>
    releaseEndpoint(tx, run.key, { workerId, now: deps.clock.now() }),
  );
};

const deliverUntilStored = async (run: Run): Promise<void> => {
  for (;;) {
    try {
      await deliverAll(run);
      return;
    } catch (error) {
      // The database is unavailable. If the lease ends meanwhile, another worker takes over the
      // endpoint.
      run.deps.log.warn(
        { err: error, ...run.key },
        "an endpoint's deliveries could not be stored; trying again",
      );
      await sleep(RETRY_MS);
      if (run.signal.aborted) return;
    }
  }
};

/**
 * Delivers to one endpoint until nothing is due or `signal` aborts. Different objects are sent in
 * parallel, up to the endpoint's concurrency; deliveries of one object are sent one after another.
 * A delivery is done once its outcome is stored; after an earlier crash it is repeated with the
 * same event id.
 */
export const startEndpointDelivery = (
  deps: EndpointDeliveryDeps,
  key: EndpointKey,
  { workerId, signal }: DeliveryOptions,
): EndpointDelivery => {
  const wakeUp = createWakeUp();
  const own = {
    queue: createDeliveryQueue(),
    wakeUp,
    opened: null,
    requests: 0,
    results: [],
    isDraining: false,
  };
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

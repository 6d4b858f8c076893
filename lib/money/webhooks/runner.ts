import { claimEndpoints, extendLeases } from "./lane-repository";
import type { EndpointKey } from "./rows";
import {
  type EndpointDelivery,
  type EndpointDeliveryDeps,
  startEndpointDelivery,
} from "./endpoint-delivery";

export interface DeliveryRunnerDeps extends EndpointDeliveryDeps {
  readonly workerId: string;
  readonly options?: {
    readonly leaseMs?: number;
    readonly heartbeatMs?: number;
    readonly pollMs?: number;
  };
}

export interface DeliveryRunner {
  /** Looks for due deliveries at once. Called when events got their numbers. */
  wake(): void;
  /** Waits for the requests in progress, and releases every endpoint. */
  stop(): Promise<void>;
}

/**
 * Milliseconds for which a lease lasts. A worker that crashes keeps its endpoints until its lease
 * ends.
 */
const LEASE_MS = 8000;
const HEARTBEAT_MS = 2000;
const POLL_MS = 250;
const ENDPOINTS_MAX = 200;
const STOP_MS = 2000;

interface Held {
  readonly key: EndpointKey;
  readonly delivery: EndpointDelivery;
  readonly controller: AbortController;
}

const nameOf = ({ projectId, endpointId }: EndpointKey): string => `${projectId}/${endpointId}`;

/**
 * Delivers webhooks, in parallel with other instances. Only the worker with an endpoint's lease
 * delivers to that endpoint, so it can keep the order of the deliveries and the limit of parallel
 * requests. The runner has separate database connections, so that slow receivers delay nothing
 * else.
 */
export const startDeliveryRunner = (deps: DeliveryRunnerDeps): DeliveryRunner => {
  const {
    leaseMs = LEASE_MS,
    heartbeatMs = HEARTBEAT_MS,
    pollMs = POLL_MS,
  } = deps.options ?? {};
  const { workerId, sql, clock, log } = deps;
  const held = new Map<string, Held>();
  /**
   * Names of endpoints that this worker claimed again before its previous run for them had ended.
   */
  const rejoining = new Set<string>();
  let stopping = false;
  let claiming: Promise<void> | null = null;
  let again = false;

  const launch = (key: EndpointKey): void => {
    const name = nameOf(key);
    const controller = new AbortController();
    const delivery = startEndpointDelivery(deps, key, { workerId, signal: controller.signal });
    held.set(name, { key, delivery, controller });
    void delivery.finished.finally(() => {
      held.delete(name);
      if (rejoining.delete(name) && !stopping) launch(key);
      // A delivery may have become due while the endpoint was being released, so this worker looks
      // for due endpoints.
      else claim();
    });
  };

  const claimOnce = async (): Promise<void> => {
    const limit = ENDPOINTS_MAX - held.size;
    if (limit <= 0) return;
    const claimed = await claimEndpoints(sql, { workerId, leaseMs, now: clock.now(), limit });
    for (const key of claimed) {
      if (held.has(nameOf(key))) rejoining.add(nameOf(key));
      else launch(key);
    }
  };

  /** Runs one claim at a time. A call during a claim leads to one more claim after it. */
  const claim = (): void => {
    if (stopping) return;
    if (claiming !== null) {
      again = true;
      return;
    }
    claiming = claimOnce()
      .catch((error: unknown) =>
        log.warn({ err: error }, "webhook endpoints could not be claimed"),
      )
      .finally(() => {
        claiming = null;
        if (!again) return;
        again = false;
        claim();
      });
  };

  const wake = (): void => {
    for (const { delivery } of held.values()) delivery.wake();
    claim();
  };

  const beat = async (): Promise<void> => {
    const own = [...held.values()];
    if (own.length === 0) return;
    const endpoints = own.map(({ key }) => key);
    const kept = new Set(
      (await extendLeases(sql, { workerId, leaseMs, endpoints })).map(nameOf),
    );
    for (const { key, controller } of own) if (!kept.has(nameOf(key))) controller.abort();
  };

  const poll = setInterval(wake, pollMs);
  const heart = setInterval(() => {
    beat().catch((error: unknown) =>
      log.warn({ err: error }, "leases of webhook endpoints could not be extended"),
    );
  }, heartbeatMs);
  claim();

  return {
    wake,
    stop: async () => {
      stopping = true;
      clearInterval(poll);
      await claiming;
      const own = [...held.values()];
      const ended = Promise.all(own.map(({ delivery }) => delivery.finished));
      for (const { delivery } of own) delivery.drain();
      // A slow receiver must not delay the end of the process: its request is aborted, and the next
      // worker sends the delivery again.
      const late = setTimeout(
        () => own.forEach(({ controller }) => controller.abort()),
        STOP_MS,
      );
      await ended;
      clearTimeout(late);
      clearInterval(heart);
    },
  };
};

import { startLane, type Lane, type LaneDeps } from "./lane";
import { claimLanes, extendLanes, type LaneKey } from "./lane-repository";

export interface DeliveryRunnerDeps extends LaneDeps {
  readonly workerId: string;
  readonly options?: { readonly leaseMs?: number; readonly heartbeatMs?: number; readonly pollMs?: number };
}

export interface DeliveryRunner {
  /** Events were numbered: look at once. */
  wake(): void;
  /** Lets requests that are under way come to their end, and gives every endpoint back. */
  stop(): Promise<void>;
}

/** A dead worker's endpoints are taken over when its lease runs out. */
const LEASE_MS = 8000;
const HEARTBEAT_MS = 2000;
const POLL_MS = 250;
const LANES_MAX = 200;
const STOP_MS = 2000;

const nameOf = ({ projectId, endpointId }: LaneKey): string => `${projectId}/${endpointId}`;

/**
 * Delivers webhooks beside any number of other instances: each endpoint is one worker's at a time, which keeps its order and its limit of
 * requests at once. It has connections of its own, so that slow receivers delay nothing else.
 */
export const startDeliveryRunner = (deps: DeliveryRunnerDeps): DeliveryRunner => {
  const { leaseMs = LEASE_MS, heartbeatMs = HEARTBEAT_MS, pollMs = POLL_MS } = deps.options ?? {};
  const { workerId, sql, clock, log } = deps;
  const lanes = new Map<string, { readonly key: LaneKey; readonly lane: Lane; readonly controller: AbortController }>();
  /** Claimed again before their turn of before had quite ended here. */
  const rejoining = new Set<string>();
  let stopping = false;
  let claiming: Promise<void> | null = null;
  let again = false;

  const launch = (key: LaneKey): void => {
    const name = nameOf(key);
    const controller = new AbortController();
    const lane = startLane(deps, key, { workerId, signal: controller.signal });
    lanes.set(name, { key, lane, controller });
    void lane.finished.finally(() => {
      lanes.delete(name);
      if (rejoining.delete(name) && !stopping) launch(key);
      // Something may have become due while it was given back.
      else claim();
    });
  };

  const claimOnce = async (): Promise<void> => {
    const limit = LANES_MAX - lanes.size;
    if (limit <= 0) return;
    const claimed = await claimLanes(sql, { workerId, leaseMs, now: clock.now(), limit });
    for (const key of claimed) {
      if (lanes.has(nameOf(key))) rejoining.add(nameOf(key));
      else launch(key);
    }
  };

  /** One claim at a time; whoever asks meanwhile gets one more after it. */
  const claim = (): void => {
    if (stopping) return;
    if (claiming !== null) {
      again = true;
      return;
    }
    claiming = claimOnce()
      .catch((error: unknown) => log.warn({ err: error }, "webhook endpoints could not be claimed"))
      .finally(() => {
        claiming = null;
        if (!again) return;
        again = false;
        claim();
      });
  };

  const wake = (): void => {
    for (const { lane } of lanes.values()) lane.wake();
    claim();
  };

  const beat = async (): Promise<void> => {
    const held = [...lanes.values()];
    if (held.length === 0) return;
    const kept = new Set(
      (await extendLanes(sql, { workerId, leaseMs, lanes: held.map(({ key }) => key) })).map(nameOf),
    );
    for (const { key, controller } of held) if (!kept.has(nameOf(key))) controller.abort();
  };

  const poll = setInterval(wake, pollMs);
  const heart = setInterval(() => {
    beat().catch((error: unknown) => log.warn({ err: error }, "leases of webhook endpoints could not be extended"));
  }, heartbeatMs);
  claim();

  return {
    wake,
    stop: async () => {
      stopping = true;
      clearInterval(poll);
      await claiming;
      const held = [...lanes.values()];
      const ended = Promise.all(held.map(({ lane }) => lane.finished));
      for (const { lane } of held) lane.drain();
      // A receiver that is slow does not keep the process: its delivery is made again by the next one.
      const late = setTimeout(() => held.forEach(({ controller }) => controller.abort()), STOP_MS);
      await ended;
      clearTimeout(late);
      clearInterval(heart);
    },
  };
};

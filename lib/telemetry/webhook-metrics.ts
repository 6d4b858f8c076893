import { counter, gauge, histogram, type Sampler } from "./registry";

const FRESH_MS = 2_000;
const LAG_BUCKETS = [0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5, 60, 300, 3600, 86_400];

const callbacks = counter({
  name: "causeway_callbacks_total",
  help: "Callbacks of providers: new, repeated (delivered again), unknown (words that are not known), refused (bad signature)",
  labels: ["source", "outcome"],
});
const callbackLag = histogram({
  name: "causeway_callback_lag_seconds",
  help: "Time from a provider's signature to the receipt of the callback, where the signature has a time",
  labels: ["source"],
  buckets: LAG_BUCKETS,
});

const attempts = histogram({
  name: "causeway_webhook_attempt_duration_seconds",
  help: "Time of a webhook's request, by its outcome: delivered, retry (failed, and is tried again), failed (given up)",
  labels: ["outcome"],
  buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15],
});
const lag = histogram({
  name: "causeway_webhook_lag_seconds",
  help: "Time from an event to its delivery",
  buckets: LAG_BUCKETS,
});

const waitingEvents = gauge({
  name: "causeway_events_waiting",
  help: "Events without a number yet, counted up to 10,000",
});
const oldestEvent = gauge({
  name: "causeway_events_oldest_seconds",
  help: "Age of the oldest event without a number; 0 without one",
});
const waitingDeliveries = gauge({
  name: "causeway_webhook_waiting",
  help: "Deliveries to active endpoints that wait or are tried again, counted up to 100,000",
});
const oldestDelivery = gauge({
  name: "causeway_webhook_oldest_seconds",
  help: "Age of the oldest of those deliveries; 0 without one",
});
const endpoints = gauge({
  name: "causeway_webhook_endpoints",
  help: "Endpoints by state: active, failing (active, and the last attempt failed), paused, disabled",
  labels: ["state"],
});

export const callbackMetrics = {
  received: (source: string, outcome: string): void => callbacks.inc({ source, outcome }),
  delayed: (source: string, lagMs: number): void => callbackLag.observe({ source }, Math.max(0, lagMs) / 1000),
};

export const deliveryMetrics = {
  attempted: (outcome: string, durationMs: number): void => attempts.observe({ outcome }, durationMs / 1000),
  delivered: (lagMs: number): void => lag.observe(Math.max(0, lagMs) / 1000),
};

interface Backlog {
  readonly count: number;
  readonly oldest: Date | null;
}

interface Sampled {
  events(): Promise<Backlog>;
  deliveries(): Promise<Backlog>;
  /** How many endpoints are in each state. */
  endpoints(): Promise<Readonly<Record<"active" | "failing" | "paused" | "disabled", number>>>;
  readonly clock: { now(): Date };
}

/** Samples the events and deliveries that wait in the database; every process shows the same numbers. */
export const webhookSampler = ({ events, deliveries, endpoints: count, clock }: Sampled): Sampler => {
  const ageOf = ({ oldest }: Backlog): number =>
    oldest === null ? 0 : Math.max(0, clock.now().getTime() - oldest.getTime()) / 1000;
  const sample = async (): Promise<void> => {
    const [waiting, sending, states] = await Promise.all([events(), deliveries(), count()]);
    waitingEvents.set(waiting.count);
    oldestEvent.set(ageOf(waiting));
    waitingDeliveries.set(sending.count);
    oldestDelivery.set(ageOf(sending));
    for (const [state, number] of Object.entries(states)) endpoints.set({ state }, number);
  };
  return { sample, freshMs: FRESH_MS };
};

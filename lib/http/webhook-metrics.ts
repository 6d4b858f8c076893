import { Counter, Gauge, Histogram, register } from "prom-client";

// Next's bundle and the server's bundle both load this file; the registry is the process's one.
const once = <Metric>(name: string, make: () => Metric): Metric =>
  (register.getSingleMetric(name) as Metric | undefined) ?? make();

const callbacks = once(
  "causeway_callbacks_total",
  () =>
    new Counter({
      name: "causeway_callbacks_total",
      help: "Callbacks of providers: new, repeated, unknown words, refused signature",
      labelNames: ["source", "outcome"],
    }),
);

const attempts = once(
  "causeway_webhook_attempt_duration_seconds",
  () =>
    new Histogram({
      name: "causeway_webhook_attempt_duration_seconds",
      help: "Time of a webhook's request, by what became of it: delivered, retry, failed",
      labelNames: ["outcome"],
      buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15],
    }),
);

const lag = once(
  "causeway_webhook_lag_seconds",
  () =>
    new Histogram({
      name: "causeway_webhook_lag_seconds",
      help: "Time from an event to its delivery",
      buckets: [0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5, 60, 300, 3600, 86_400],
    }),
);

const gauge = (name: string, help: string): Gauge => once(name, () => new Gauge({ name, help }));

const waitingEvents = gauge("causeway_events_waiting", "Events without a number yet, counted up to 10,000");
const oldestEvent = gauge("causeway_events_oldest_seconds", "Age of the oldest event without a number");
const waitingDeliveries = gauge("causeway_webhook_waiting", "Deliveries that are not made yet, counted up to 100,000");
const oldestDelivery = gauge("causeway_webhook_oldest_seconds", "Age of the oldest delivery that is not made yet");

export const callbackMetrics = {
  received: (source: string, outcome: string): void => callbacks.inc({ source, outcome }),
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
  readonly clock: { now(): Date };
  readonly log: { warn(fields: object, message: string): void };
}

const SAMPLE_MS = 15_000;

/** Measures every 15 s what waits. */
export const sampleBacklog = ({ events, deliveries, clock, log }: Sampled): { stop(): void } => {
  const set = (count: Gauge, age: Gauge, backlog: Backlog): void => {
    count.set(backlog.count);
    age.set(backlog.oldest === null ? 0 : Math.max(0, clock.now().getTime() - backlog.oldest.getTime()) / 1000);
  };
  const sample = async (): Promise<void> => {
    set(waitingEvents, oldestEvent, await events());
    set(waitingDeliveries, oldestDelivery, await deliveries());
  };
  const timer = setInterval(() => {
    sample().catch((error: unknown) => log.warn({ err: error }, "what waits for delivery could not be counted"));
  }, SAMPLE_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
};

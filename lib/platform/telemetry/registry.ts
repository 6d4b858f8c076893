/**
 * Creates and reads every metric of the process. A new metric is one call here; see
 * lib/composition/metrics/call-metrics.ts.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, register } from "prom-client";
import { withDeadline } from "@/lib/core/deadline";

// Next's bundle and the server's bundle both load the modules that create metrics; the registry
// belongs to the process.
const once = <Metric>(name: string, make: () => Metric): Metric =>
  (register.getSingleMetric(name) as Metric | undefined) ?? make();

interface Described {
  readonly name: string;
  readonly help: string;
}

interface Labelled<Label extends string> extends Described {
  /**
   * Label values must come from a short list, because each combination is a time series. Never an
   * id, an address or a path.
   */
  readonly labels?: readonly Label[];
}

/** A count that only grows; its name ends in `_total`. */
export const counter = <Label extends string = never>({
  name,
  help,
  labels = [],
}: Labelled<Label>): Counter<Label> =>
  once(name, () => new Counter<Label>({ name, help, labelNames: [...labels] }));

/**
 * Creates a gauge (a metric whose value can go up and down), or returns the existing one of this
 * name.
 */
export const gauge = <Label extends string = never>({
  name,
  help,
  labels = [],
}: Labelled<Label>): Gauge<Label> =>
  once(name, () => new Gauge<Label>({ name, help, labelNames: [...labels] }));

/**
 * Creates a histogram, or returns the existing one of this name.
 * @param buckets upper bounds, in seconds where the name ends in `_seconds`
 */
export const histogram = <Label extends string = never>({
  name,
  help,
  labels = [],
  buckets,
}: Labelled<Label> & { readonly buckets: readonly number[] }): Histogram<Label> =>
  once(
    name,
    () => new Histogram<Label>({ name, help, labelNames: [...labels], buckets: [...buckets] }),
  );

/** Sets gauges to current values (for example the amount of waiting work). */
export interface Sampler {
  /**
   * Sets the gauges. A sample may take longer than a read waits for it. No sample starts before
   * the previous one has ended.
   */
  sample(): Promise<void>;
  /** Milliseconds for which reads use the same sample. */
  readonly freshMs: number;
}

interface MetricsDeps {
  readonly samplers: Readonly<Record<string, Sampler>>;
  readonly log: { warn(fields: object, message: string): void };
  readonly clock: { now(): Date };
  /** Milliseconds for which a read waits for a sample. Default 2,000. */
  readonly timeoutMs?: number;
}

export const METRICS_MEDIA_TYPE = register.contentType;

const TIMEOUT_MS = 2000;

const failures = counter({
  name: "causeway_metrics_sampler_errors_total",
  help: "Samples that failed or did not come in time; the gauges of that sampler show an earlier one",
  labels: ["sampler"],
});

/**
 * The process's own use of memory, processor, event loop and file descriptors (`process_*`,
 * `nodejs_*`).
 */
const collectProcessMetrics = (): void => {
  if (register.getSingleMetric("process_cpu_seconds_total") === undefined)
    collectDefaultMetrics();
};

interface Sampling {
  readonly sampler: Sampler;
  running: Promise<void> | null;
  /** The time at which the latest successful sample was started. */
  sampledAtMs: number | null;
}

const isFresh = ({ sampledAtMs, sampler }: Sampling, nowMs: number): boolean =>
  // When the clock was set back, an old sample must not count as fresh.
  sampledAtMs !== null && Math.abs(nowMs - sampledAtMs) < sampler.freshMs;

/**
 * Reads the process's metrics. Concurrent readers share the samples, and a failing sample does not
 * block the others.
 */
export const createMetrics = ({
  samplers,
  log,
  clock,
  timeoutMs = TIMEOUT_MS,
}: MetricsDeps) => {
  collectProcessMetrics();
  const all = Object.entries(samplers).map(([name, sampler]): [string, Sampling] => [
    name,
    { sampler, running: null, sampledAtMs: null },
  ]);

  const start = (sampling: Sampling, nowMs: number): Promise<void> => {
    const run = async (): Promise<void> => {
      try {
        await sampling.sampler.sample();
        sampling.sampledAtMs = nowMs;
      } finally {
        sampling.running = null;
      }
    };
    return (sampling.running = run());
  };

  const sample = async (name: string, sampling: Sampling, nowMs: number): Promise<void> => {
    if (isFresh(sampling, nowMs)) return;
    try {
      await withDeadline(sampling.running ?? start(sampling, nowMs), {
        timeoutMs,
        message: `There was no sample within ${String(timeoutMs)} ms.`,
      });
    } catch (error) {
      failures.inc({ sampler: name });
      log.warn({ err: error, sampler: name }, "a metric could not be sampled");
    }
  };

  return {
    mediaType: register.contentType,
    render: async (): Promise<string> => {
      const nowMs = clock.now().getTime();
      await Promise.all(all.map(([name, sampling]) => sample(name, sampling, nowMs)));
      return register.metrics();
    },
  };
};

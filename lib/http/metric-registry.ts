/** Where every metric of the process is made, and how they are read. A new metric is one call here; see lib/http/webhook-metrics.ts. */
import { Counter, Gauge, Histogram, register } from "prom-client";

// Next's bundle and the server's bundle both load the modules that make metrics; the registry is the process's one.
const once = <Metric>(name: string, make: () => Metric): Metric =>
  (register.getSingleMetric(name) as Metric | undefined) ?? make();

interface Described {
  readonly name: string;
  readonly help: string;
}

interface Labelled<Label extends string> extends Described {
  readonly labels?: readonly Label[];
}

export const counter = <Label extends string = never>({ name, help, labels = [] }: Labelled<Label>): Counter<Label> =>
  once(name, () => new Counter<Label>({ name, help, labelNames: [...labels] }));

export const gauge = <Label extends string = never>({ name, help, labels = [] }: Labelled<Label>): Gauge<Label> =>
  once(name, () => new Gauge<Label>({ name, help, labelNames: [...labels] }));

/** @param buckets upper bounds in seconds */
export const histogram = <Label extends string = never>({
  name,
  help,
  labels = [],
  buckets,
}: Labelled<Label> & { readonly buckets: readonly number[] }): Histogram<Label> =>
  once(name, () => new Histogram<Label>({ name, help, labelNames: [...labels], buckets: [...buckets] }));

/** Measures what is true now (how much waits), as often as somebody reads the metrics. */
export type Sampler = () => Promise<void>;

interface MetricsDeps {
  readonly samplers: Readonly<Record<string, Sampler>>;
  readonly log: { warn(fields: object, message: string): void };
  readonly timeoutMs?: number;
}

export const METRICS_MEDIA_TYPE = register.contentType;

const TIMEOUT_MS = 2000;

const failures = counter({
  name: "causeway_metrics_failures_total",
  help: "Samples that could not be taken for a reading of the metrics; their gauges are those of before",
  labels: ["sampler"],
});

export const createMetrics = ({ samplers, log, timeoutMs = TIMEOUT_MS }: MetricsDeps) => {
  /** Whoever reads while samples are being taken gets the same ones. */
  let sampling: Promise<unknown> | null = null;

  const attempt = async (name: string, sampler: Sampler): Promise<void> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`There was no sample within ${String(timeoutMs)} ms.`)), timeoutMs);
    });
    try {
      await Promise.race([sampler(), late]);
    } catch (error) {
      failures.inc({ sampler: name });
      log.warn({ err: error, sampler: name }, "a metric could not be sampled");
    } finally {
      clearTimeout(timer);
    }
  };

  const sample = (): Promise<unknown> => {
    sampling ??= Promise.all(Object.entries(samplers).map(([name, one]) => attempt(name, one))).finally(() => {
      sampling = null;
    });
    return sampling;
  };

  return {
    /** Every metric of this process in Prometheus' text form. A sample that cannot be taken does not keep the others back. */
    render: async (): Promise<string> => {
      await sample();
      return register.metrics();
    },
  };
};

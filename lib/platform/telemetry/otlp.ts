/** Sends the spans of lib/core/tracing.ts to an OpenTelemetry collector over OTLP/HTTP. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Context, Span as OtelSpan, SpanContext, Tracer } from "@opentelemetry/api";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import { resultWithin } from "@/lib/core/deadline";
import { isDomainError } from "@/lib/core/errors";
import { redactSecrets } from "@/lib/core/redaction";
import {
  setTracing,
  type Span,
  type SpanFields,
  type SpanOptions,
  type Tracing,
} from "@/lib/core/tracing";
import { counter } from "./registry";

export interface TracingConfig {
  /** Base URL of the collector: spans go to `<endpoint>/v1/traces`. */
  readonly endpoint: string;
  /** Headers of each export, for example an API key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Milliseconds between exports. Default 5,000. */
  readonly exportEveryMs?: number;
}

export interface RunningTracing {
  /**
   * Sends the waiting spans, for at most `STOP_TIMEOUT_MS`, and turns tracing off. Never rejects.
   */
  stop(): Promise<void>;
}

const EXPORT_EVERY_MS = 5_000;
const EXPORT_TIMEOUT_MS = 5_000;
const STOP_TIMEOUT_MS = 2_000;
/**
 * Maximum number of spans that wait for an export; later ones are dropped, so that an unresponsive
 * collector costs no memory.
 */
const QUEUE_MAX = 4_096;
const BATCH_MAX = 512;
const TEXT_MAX = 200;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const NO_TRACE = /^0+$/;

const exports = counter({
  name: "causeway_trace_exports_total",
  help: "Exports of spans to the OpenTelemetry collector, by outcome: ok, failed",
  labels: ["outcome"],
});

/** The span context in a W3C `traceparent`; null when it is invalid. */
export const contextOf = (traceparent: string): SpanContext | null => {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (NO_TRACE.test(traceId) || NO_TRACE.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
};

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;

const withoutSecrets = (fields: SpanFields): SpanFields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" ? redactSecrets(value).slice(0, TEXT_MAX) : value,
    ]),
  );

/** An error's code or class. Its message may quote a caller's input, so it is only in the log. */
const errorName = (error: unknown): string => {
  if (isDomainError(error)) return error.code;
  return error instanceof Error ? error.name : "unknown";
};

const counting = (exporter: SpanExporter): SpanExporter => ({
  export: (spans: ReadableSpan[], done) =>
    exporter.export(spans, (result) => {
      exports.inc({ outcome: result.error === undefined ? "ok" : "failed" });
      done(result);
    }),
  shutdown: () => exporter.shutdown(),
});

/**
 * The packages are loaded only here, so that a process without a collector does not pay for them. A
 * static import would be hoisted to the top of the server's bundle.
 */
const loadPackages = async () => {
  const [api, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace-base"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  return { api, sdk, resourceFromAttributes, OTLPTraceExporter };
};

type Packages = Awaited<ReturnType<typeof loadPackages>>;

const createProvider = (
  { sdk, resourceFromAttributes, OTLPTraceExporter }: Packages,
  config: TracingConfig,
) => {
  const exporter = new OTLPTraceExporter({
    url: `${config.endpoint.replace(/\/$/, "")}/v1/traces`,
    headers: { ...config.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  return new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({ "service.name": config.serviceName }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() }),
    spanProcessors: [
      new sdk.BatchSpanProcessor(counting(exporter), {
        maxQueueSize: QUEUE_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: config.exportEveryMs ?? EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
};

const createTracing = ({ api }: Packages, tracer: Tracer): Tracing => {
  const current = new AsyncLocalStorage<OtelSpan>();
  const { INTERNAL, SERVER, CLIENT, CONSUMER } = api.SpanKind;
  const kinds = { internal: INTERNAL, server: SERVER, client: CLIENT, consumer: CONSUMER };

  const parentOf = ({ parent }: SpanOptions): Context => {
    if (parent === null) return api.ROOT_CONTEXT;
    if (parent !== undefined) {
      const remote = contextOf(parent);
      return remote === null
        ? api.ROOT_CONTEXT
        : api.trace.setSpanContext(api.ROOT_CONTEXT, remote);
    }
    const span = current.getStore();
    return span === undefined ? api.ROOT_CONTEXT : api.trace.setSpan(api.ROOT_CONTEXT, span);
  };

  const start = (name: string, options: SpanOptions): OtelSpan =>
    tracer.startSpan(
      name,
      {
        kind: kinds[options.kind ?? "internal"],
        attributes: withoutSecrets(options.fields ?? {}),
        links: (options.links ?? []).flatMap((link) => {
          const context = contextOf(link);
          return context === null ? [] : [{ context }];
        }),
      },
      parentOf(options),
    );

  const fail = (span: OtelSpan, error: unknown): void => {
    span.setAttribute("error.type", errorName(error));
    span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end();
  };

  const run = <T>(span: OtelSpan, work: (span: Span) => T): T => {
    const handle: Span = { set: (fields) => void span.setAttributes(withoutSecrets(fields)) };
    try {
      const result = current.run(span, () => work(handle));
      // Only a real promise is observed, because Prisma's promises start a query with each `then`.
      if (result instanceof Promise)
        result.then(
          () => span.end(),
          (error: unknown) => fail(span, error),
        );
      else span.end();
      return result;
    } catch (error) {
      fail(span, error);
      throw error;
    }
  };

  return {
    span: (name, options, work) =>
      options.nestedOnly === true && current.getStore() === undefined
        ? work({ set: () => undefined })
        : run(start(name, options), work),
    current: () => {
      const span = current.getStore();
      return span === undefined ? null : traceparentOf(span.spanContext());
    },
  };
};

/**
 * Loads OpenTelemetry and turns tracing on for this process. Call it before the services are
 * created.
 */
export const startTracing = async (config: TracingConfig): Promise<RunningTracing> => {
  const packages = await loadPackages();
  const provider = createProvider(packages, config);
  setTracing(createTracing(packages, provider.getTracer("causeway")));
  return {
    stop: async () => {
      setTracing(null);
      await resultWithin(
        provider.shutdown().catch(() => undefined),
        STOP_TIMEOUT_MS,
      );
    },
  };
};

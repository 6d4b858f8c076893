/**
 * Spans of work, without a tracing library. Modules name their steps here, and
 * lib/platform/telemetry/otlp.ts exports the spans if OTEL_EXPORTER_OTLP_ENDPOINT is set.
 * Otherwise the work runs without spans.
 */
export type SpanFields = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** Adds fields to the span. Never pass a secret, a code, a key, an address or an amount. */
  set(fields: SpanFields): void;
}

export interface SpanOptions {
  readonly fields?: SpanFields;
  readonly kind?: "internal" | "server" | "client" | "consumer";
  /** W3C `traceparent` of the parent. Default: the current span. Null starts a new trace. */
  readonly parent?: string | null;
  /** W3C `traceparent` of spans that caused this one without being its parent. */
  readonly links?: readonly string[];
  /**
   * True to create the span only inside another span. Otherwise the polls of an idle worker would
   * fill the collector.
   */
  readonly nestedOnly?: boolean;
}

export interface Tracing {
  span<T>(name: string, options: SpanOptions, work: (span: Span) => T): T;
  /** W3C `traceparent` of the current span; null outside of one. */
  current(): string | null;
}

// The server's bundle and Next's bundle each have a copy of this module. The registered symbol
// makes them share the tracing.
const TRACING = Symbol.for("causeway.tracing");
const shared = globalThis as { [TRACING]?: Tracing | null };

const NO_SPAN: Span = { set: () => undefined };

/** Turns tracing on for this process; null turns it off. */
export const setTracing = (tracing: Tracing | null): void => {
  shared[TRACING] = tracing;
};

/** Whether `setTracing` has turned tracing on for this process. */
export const isTracing = (): boolean => (shared[TRACING] ?? null) !== null;

/**
 * Runs `work` in a span, which ends when `work` returns, or when the promise that `work` returned
 * settles.
 * @throws the error of `work`
 * @example const quote = await inSpan("quote", { fields: { legs: 2 } }, () => priceRoute(request));
 */
export const inSpan = <T>(name: string, options: SpanOptions, work: (span: Span) => T): T => {
  const tracing = shared[TRACING] ?? null;
  return tracing === null ? work(NO_SPAN) : tracing.span(name, options, work);
};

/**
 * W3C `traceparent` of the current span, to be stored with work that continues later; null without
 * a span.
 */
export const currentTraceparent = (): string | null => shared[TRACING]?.current() ?? null;

/**
 * Returns the service with a span around each of its functions, named `<name>.<function>`. Returns
 * the service unchanged while tracing is off, so call `setTracing` first.
 * @example const rates = tracedService("rates", createRatesService(deps));
 */
export const tracedService = <S extends object>(name: string, service: S): S => {
  if (!isTracing()) return service;
  const entries = Object.entries(service).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === "function"
      ? (...inputs: unknown[]): unknown =>
          inSpan(
            `${name}.${key}`,
            { nestedOnly: true },
            () => Reflect.apply(value, service, inputs) as unknown,
          )
      : value,
  ]);
  return Object.fromEntries(entries) as S;
};

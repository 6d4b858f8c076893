import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { z } from "zod";

const value = z.object({
  stringValue: z.string().optional(),
  intValue: z.coerce.number().optional(),
});
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: z.array(z.object({ key: z.string(), value })),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).optional(),
  status: z.object({ code: z.number().optional() }),
});
const exported = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});

export type CollectedSpan = z.infer<typeof span>;

export interface OtlpCollector {
  readonly url: string;
  /** All spans exported so far. */
  readonly spans: readonly CollectedSpan[];
  /** The bodies as received. */
  readonly bodies: readonly string[];
  /** Headers of the first export. */
  headers(): Readonly<Record<string, unknown>>;
  /** Stops answering exports. @returns a function that returns how many exports are waiting */
  hang(): () => number;
  /** Closes every connection and stops listening. */
  close(): void;
}

/** A collector for OTLP/HTTP in JSON, like an OpenTelemetry Collector. */
export const startOtlpCollector = async (): Promise<OtlpCollector> => {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  let headers: Readonly<Record<string, unknown>> = {};
  let isHanging = false;
  const waiting: ServerResponse[] = [];
  const server = createServer((incoming, outgoing) => {
    const receive = (body: string): void => {
      if (isHanging) {
        waiting.push(outgoing);
        return;
      }
      if (bodies.length === 0) ({ headers } = incoming);
      bodies.push(body);
      const { resourceSpans } = exported.parse(JSON.parse(body));
      spans.push(
        ...resourceSpans.flatMap(({ scopeSpans }) =>
          scopeSpans.flatMap((scope) => scope.spans),
        ),
      );
      outgoing.writeHead(200, { "content-type": "application/json" }).end("{}");
    };
    // A process that is killed, or `close`, may end the connection amid a body. Only this error is
    // ignored.
    void text(incoming).then(receive, () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    spans,
    bodies,
    headers: () => headers,
    hang: () => {
      isHanging = true;
      return () => waiting.length;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

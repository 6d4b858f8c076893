/** One event of a stream (server-sent events, WHATWG HTML 9.2). `data` is sent as JSON. */
export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1_000;
const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  // Proxies of the nginx family would hold events back otherwise.
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();
const oneLine = (text: string): string => text.replace(/[\r\n\0]/g, " ");
const encode = ({ id, event, data }: StreamEvent): Uint8Array =>
  encoder.encode(`id: ${oneLine(id)}\nevent: ${oneLine(event)}\ndata: ${JSON.stringify(data)}\n\n`);

/** Said when the source is at its end. A stream that stops without it was cut, and the caller should come back. */
const END = encoder.encode("event: end\ndata: {}\n\n");

/** The id after which the caller wants to go on, or null. Sent by browsers and by our client when they reconnect. */
export const lastEventId = (request: Request): string | null => request.headers.get("last-event-id");

/**
 * A stream of events as a Response. A comment goes out every 15 s, so that proxies keep the connection and a caller that is gone is
 * noticed. When the caller goes away `source.return()` is called; a source that waits must also watch the handler's `signal`, as a
 * generator cannot be ended while it awaits. The last event of a complete stream is `end`; where it is missing (an error of the
 * source, a restart of the server) the caller reconnects with Last-Event-ID.
 */
export const eventStream = (source: AsyncIterable<StreamEvent>, options: { heartbeatMs?: number } = {}): Response => {
  const iterator = source[Symbol.asyncIterator]();
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(encoder.encode(`retry: ${String(RETRY_MS)}\n\n`));
      heartbeat = setInterval(() => {
        // Nothing is queued for a caller that does not read.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": still here\n\n"));
      }, options.heartbeatMs ?? HEARTBEAT_MS);
    },
    pull: async (controller) => {
      try {
        const next: IteratorResult<StreamEvent, unknown> = await iterator.next();
        if (next.done !== true) {
          controller.enqueue(encode(next.value));
          return;
        }
        clearInterval(heartbeat);
        controller.enqueue(END);
        controller.close();
      } catch (error) {
        clearInterval(heartbeat);
        controller.error(error);
      }
    },
    cancel: async () => {
      clearInterval(heartbeat);
      await iterator.return?.();
    },
  });
  return new Response(body, { status: 200, headers: HEADERS });
};

import { createTicker, type Ticker } from "@/lib/core/ticker";

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
  // Tells proxies such as nginx not to buffer events.
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();
const oneLine = (text: string): string => text.replace(/[\r\n\0]/g, " ");
const encode = ({ id, event, data }: StreamEvent): Uint8Array =>
  encoder.encode(
    `id: ${oneLine(id)}\nevent: ${oneLine(event)}\ndata: ${JSON.stringify(data)}\n\n`,
  );

/**
 * The last event of a complete stream. A stream without it was interrupted, and the caller should
 * reconnect.
 */
const END = encoder.encode("event: end\ndata: {}\n\n");

const HEARTBEAT = encoder.encode(": still here\n\n");

/**
 * Id of the last event that the caller received, or null. Browsers and our client send it when they
 * reconnect.
 */
export const lastEventId = (request: Request): string | null =>
  request.headers.get("last-event-id");

export interface EventStreamOptions {
  readonly heartbeatMs?: number;
  /** Times the heartbeats. By default the streams of the process share one ticker. */
  readonly ticker?: Ticker;
  /**
   * When it aborts, the stream ends without the end marker, so that the caller reconnects and then
   * gets the reason.
   */
  readonly signal?: AbortSignal;
  /** Called once when the stream ends, for any reason. */
  readonly onEnd?: () => void;
}

const ownTicker = createTicker();

/**
 * A stream of events as a Response. A comment is sent every 15 s, so that proxies keep the
 * connection and a caller that is gone is noticed. When the caller disconnects, `source.return()`
 * is called; a waiting source must also watch the handler's `signal`, because a generator cannot be
 * ended while it awaits. The last event of a complete stream is `end`. When it is missing (an error
 * of the source, a restart of the server, the end of the caller's credential), the caller
 * reconnects with Last-Event-ID.
 */
export const eventStream = (
  source: AsyncIterable<StreamEvent>,
  options: EventStreamOptions = {},
): Response => {
  const { heartbeatMs = HEARTBEAT_MS, ticker = ownTicker, signal, onEnd } = options;
  const iterator = source[Symbol.asyncIterator]();
  let isOver = false;
  let stop = (): void => undefined;
  /** Returns false when the stream was over already. */
  const finish = (): boolean => {
    if (isOver) return false;
    isOver = true;
    stop();
    onEnd?.();
    return true;
  };

  const begin = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    controller.enqueue(encoder.encode(`retry: ${String(RETRY_MS)}\n\n`));
    const stopHeartbeat = ticker.every(heartbeatMs, () => {
      // Nothing is queued while the caller does not read.
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(HEARTBEAT);
    });
    const cut = (): void => {
      if (finish()) controller.close();
    };
    signal?.addEventListener("abort", cut);
    stop = () => {
      stopHeartbeat();
      signal?.removeEventListener("abort", cut);
    };
    if (signal?.aborted === true) cut();
  };

  const advance = async (
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<void> => {
    try {
      const next: IteratorResult<StreamEvent, unknown> = await iterator.next();
      if (isOver) return;
      if (next.done !== true) {
        controller.enqueue(encode(next.value));
        return;
      }
      finish();
      controller.enqueue(END);
      controller.close();
    } catch (error) {
      if (finish()) controller.error(error);
    }
  };

  const body = new ReadableStream<Uint8Array>({
    start: begin,
    pull: advance,
    cancel: async () => {
      finish();
      await iterator.return?.();
    },
  });
  return new Response(body, { status: 200, headers: HEADERS });
};

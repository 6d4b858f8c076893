import type { ServerResponse } from "node:http";

const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.once("drain", done);
    outgoing.once("close", done);
  });

interface Streaming {
  readonly outgoing: ServerResponse;
  readonly closing: AbortSignal;
  readonly headOnly: boolean;
  readonly abort: () => void;
}

/**
 * Sends a stream. When the caller disconnects, or the server closes, the source is notified and the
 * stream cancelled. A stream that broke ends without its end marker (see `eventStream`), so that
 * the caller reconnects.
 */
export const sendStream = async (
  response: Response,
  { outgoing, closing, headOnly, abort }: Streaming,
): Promise<void> => {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const hasEvents =
    response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const reader = response.body?.getReader();
  const isCut = (): boolean => closing.aborted;
  const cancel = (): void => {
    abort();
    void reader?.cancel().catch(() => undefined);
  };
  if (!reader || headOnly || outgoing.destroyed || isCut()) {
    cancel();
    outgoing.end();
    return;
  }
  outgoing.once("close", cancel);
  closing.addEventListener("abort", cancel, { once: true });
  try {
    outgoing.flushHeaders();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!outgoing.write(value)) await drained(outgoing);
    }
    // A broken document must not look complete, so its connection is closed. An event stream shows
    // the break by the missing end marker.
    if (isCut() && !hasEvents) outgoing.destroy();
    else outgoing.end();
  } catch (error) {
    if (hasEvents) outgoing.end();
    throw error;
  } finally {
    outgoing.off("close", cancel);
    closing.removeEventListener("abort", cancel);
  }
};

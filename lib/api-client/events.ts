import { createParser, type EventSourceMessage } from "eventsource-parser";

export interface ServerEvent<Data> {
  readonly id: string | null;
  readonly event: string;
  readonly data: Data;
}

const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 15_000;
/**
 * Maximum number of consecutive connections without an event. After them, the last error is thrown.
 */
const FRUITLESS_ATTEMPTS_MAX = 10;
const EVENT_CHARACTERS_MAX = 4 * 1024 * 1024;

/**
 * The event with which the service ends a stream. A stream that stops without it was interrupted.
 */
const END_EVENT = "end";

/**
 * The complete events of a stream (WHATWG HTML 9.2.6). Comments and `retry` are ignored.
 * @throws Error when an event is larger than 4 million characters
 */
export async function* parseEventStream(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<EventSourceMessage> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const complete: EventSourceMessage[] = [];
  let charactersSinceEvent = 0;
  const parser = createParser({ onEvent: (event) => complete.push(event) });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      parser.feed(text);
      charactersSinceEvent = complete.length > 0 ? 0 : charactersSinceEvent + text.length;
      if (charactersSinceEvent > EVENT_CHARACTERS_MAX)
        throw new Error("An event of the stream is too large.");
      yield* complete.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });

// A function, because the compiler would otherwise narrow `aborted` from an earlier check.
const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/**
 * Reads a stream to its end. After a lost connection, it continues after the last received event.
 * @param isRefusal recognises errors after which another attempt is pointless
 */
export async function* readEvents<Data>(
  connect: (lastEventId: string | null) => Promise<Response>,
  isRefusal: (error: unknown) => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerEvent<Data>> {
  let lastEventId: string | null = null;
  let fruitless = 0;
  while (!isAborted(signal)) {
    try {
      const response = await connect(lastEventId);
      if (response.body === null) return;
      for await (const { id = null, event = "message", data } of parseEventStream(
        response.body,
      )) {
        if (event === END_EVENT) return;
        fruitless = 0;
        lastEventId = id ?? lastEventId;
        yield { id, event, data: JSON.parse(data) as Data };
      }
      throw new Error("The stream stopped before its end.");
    } catch (error) {
      if (isAborted(signal)) return;
      fruitless += 1;
      if (isRefusal(error) || fruitless >= FRUITLESS_ATTEMPTS_MAX) throw error;
      await pause(Math.min(BACKOFF_FIRST_MS * 2 ** (fruitless - 1), BACKOFF_MAX_MS), signal);
    }
  }
}

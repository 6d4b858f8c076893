import type { OperationEvent } from "./rows";
import type { Ticker } from "@/lib/core/ticker";
import { isFinal } from "@/lib/core/status";
import {
  EVENT_CHANNEL,
  type EventCursor,
  type EventRepository,
  type OperationEvents,
} from "./state-repository";

const EVENTS_PAGE = 100;

/**
 * A client's stream of one operation's events. It buffers events until the client consumes them, at
 * most two pages of events.
 */
class Watcher implements AsyncIterableIterator<OperationEvent, undefined> {
  readonly #queue: OperationEvent[] = [];
  /**
   * True after a read skipped this stream because its buffer was full. When the client has consumed
   * the buffer, the events are read again.
   */
  isBehind = false;
  #end: { readonly error: Error | null } | null = null;
  #wake: (() => void) | null = null;

  /** @param seq sequence number of the last event that the client received */
  constructor(
    public seq: number,
    private readonly onDrained: () => void,
    private readonly onLeave: () => void,
  ) {}

  get isFull(): boolean {
    return this.#queue.length >= EVENTS_PAGE;
  }

  /**
   * Buffers new events for the consumer.
   * @param events in the order of their numbers; events that the stream already has are ignored
   */
  push(events: readonly OperationEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.seq) continue;
      this.seq = event.seq;
      this.#queue.push(event);
    }
    this.#wake?.();
  }

  /** The stream ends, or throws the error, after it has delivered the buffered events. */
  end(error: Error | null = null): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<OperationEvent, undefined>> {
    for (;;) {
      const event = this.#queue.shift();
      if (event !== undefined) {
        if (this.isBehind && this.#queue.length === 0) {
          this.isBehind = false;
          this.onDrained();
        }
        return { done: false, value: event };
      }
      if (this.#end !== null) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = null;
    }
    this.onLeave();
    if (this.#end.error !== null) throw this.#end.error;
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<OperationEvent, undefined>> {
    this.end();
    this.#queue.length = 0;
    this.onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/**
 * Milliseconds between two polls of all watched operations. Polling is needed because notifications
 * are lost when the connection breaks.
 */
const POLL_MS = 2000;
const READ_MAX = 500;

export interface WatchingDeps {
  readonly events: EventRepository;
  readonly ticker: Ticker;
  readonly listener: { on(channel: string, handler: (payload: string) => void): () => void };
}

/**
 * Creates the function `mark`, which reads the new events of an operation. One query reads the
 * events of all marked operations, and only one query runs at a time.
 */
const createReading = (
  repository: EventRepository,
  watchers: ReadonlyMap<string, ReadonlySet<Watcher>>,
) => {
  const due = new Set<string>();
  let isReading = false;

  /**
   * Returns the sequence number after which to read the operation's events; null when the buffers
   * of all its streams are full.
   */
  const cursorOf = (operationId: string): EventCursor | null => {
    const all = [...(watchers.get(operationId) ?? [])];
    const open = all.filter(({ isFull }) => !isFull);
    for (const watcher of all) watcher.isBehind ||= watcher.isFull;
    return open.length === 0
      ? null
      : { operationId, afterSeq: Math.min(...open.map(({ seq }) => seq)) };
  };
  const cursorsOf = (ids: Iterable<string>): EventCursor[] =>
    [...ids].map(cursorOf).filter((cursor) => cursor !== null);

  /**
   * Passes new events to the streams of an operation. Ends the streams after the last event of a
   * final operation.
   * @param afterSeq the sequence number after which the events were read
   */
  const deliver = (
    { operationId, status, events }: OperationEvents,
    afterSeq: number,
  ): void => {
    const isWhole = events.length < EVENTS_PAGE;
    if (!isWhole) due.add(operationId);
    for (const watcher of [...(watchers.get(operationId) ?? [])]) {
      watcher.isBehind ||= watcher.isFull;
      if (watcher.isFull) continue;
      if (watcher.seq < afterSeq) {
        // The stream joined during the read, or has room again. It needs earlier events than this
        // read has returned, so the operation is read again.
        due.add(operationId);
        continue;
      }
      watcher.push(events);
      if (isWhole && isFinal(status)) watcher.end();
    }
  };

  const readSome = async (): Promise<void> => {
    const ids = [...due].slice(0, READ_MAX);
    for (const id of ids) due.delete(id);
    const cursors = cursorsOf(ids);
    if (cursors.length === 0) return;
    try {
      const starts = new Map(
        cursors.map(({ operationId, afterSeq }) => [operationId, afterSeq]),
      );
      for (const found of await repository.eventsAfter(cursors, EVENTS_PAGE))
        deliver(found, starts.get(found.operationId) ?? 0);
    } catch (cause) {
      const error = new Error("Events could not be read.", { cause });
      // The streams end without an end marker, so their clients reconnect with the id of the last
      // event that they received.
      for (const { operationId } of cursors)
        for (const watcher of watchers.get(operationId) ?? []) watcher.end(error);
    }
  };

  const read = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      while (due.size > 0) await readSome();
    } finally {
      isReading = false;
    }
  };

  const mark = (operationId: string): void => {
    if (!watchers.has(operationId)) return;
    if (due.size === 0 && !isReading) setImmediate(() => void read());
    due.add(operationId);
  };

  return { cursorsOf, mark };
};

/**
 * Streams of operations' events. However many streams there are, this instance listens to one
 * channel, polls with one query, and reads the events of all announced operations with one more
 * query.
 */
export const createWatching = ({ events: repository, ticker, listener }: WatchingDeps) => {
  const watchers = new Map<string, Set<Watcher>>();
  const { cursorsOf, mark } = createReading(repository, watchers);
  let stopWatching: (() => void) | null = null;
  let isPolling = false;

  const poll = async (): Promise<void> => {
    if (isPolling) return;
    isPolling = true;
    try {
      const cursors = cursorsOf(watchers.keys());
      if (cursors.length === 0) return;
      for (const id of await repository.withNews(cursors)) mark(id);
    } catch {
      // The next poll tries again.
    } finally {
      isPolling = false;
    }
  };

  const startWatching = (): (() => void) => {
    const stops = [listener.on(EVENT_CHANNEL, mark), ticker.every(POLL_MS, () => void poll())];
    return () => {
      for (const stop of stops) stop();
    };
  };

  const remove = (operationId: string, watcher: Watcher): void => {
    const own = watchers.get(operationId);
    if (own?.delete(watcher) !== true || own.size > 0) return;
    watchers.delete(operationId);
    if (watchers.size > 0) return;
    stopWatching?.();
    stopWatching = null;
  };

  /**
   * Yields past and future events after `afterSeq` until the operation is final or `signal` aborts.
   */
  const watch = (
    operationId: string,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncIterableIterator<OperationEvent> => {
    const leave = (): void => {
      signal.removeEventListener("abort", abort);
      remove(operationId, watcher);
    };
    const abort = (): void => void watcher.return();
    const watcher = new Watcher(afterSeq, () => mark(operationId), leave);
    const own = watchers.get(operationId) ?? new Set();
    watchers.set(operationId, own.add(watcher));
    // Listening starts before the first read, so that an event that is written after this read is
    // announced.
    stopWatching ??= startWatching();
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    else mark(operationId);
    return watcher;
  };

  return { watch };
};

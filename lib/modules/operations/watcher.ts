import type { OperationEvent } from "./operation";

/** Maximum number of events that one read takes of an operation. */
export const EVENTS_PAGE = 100;

/** One stream. Events wait here until they are consumed, at most two pages of them. */
export class Watcher implements AsyncIterableIterator<OperationEvent, undefined> {
  readonly #queue: OperationEvent[] = [];
  /** Whether a read skipped this stream because it was full. */
  isBehind = false;
  #end: { readonly error: Error | null } | null = null;
  #wake: (() => void) | null = null;

  /** @param seq of the last event that the stream has received or buffered */
  constructor(
    public seq: number,
    private readonly onDrained: () => void,
    private readonly onLeave: () => void,
  ) {}

  get isFull(): boolean {
    return this.#queue.length >= EVENTS_PAGE;
  }

  /** @param events in order; those that the stream already has are ignored */
  push(events: readonly OperationEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.seq) continue;
      this.seq = event.seq;
      this.#queue.push(event);
    }
    this.#wake?.();
  }

  /** Delivers the buffered events; then the stream ends, or throws the error. */
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

import type { Actor } from "@/lib/core/actor";
import { shownTo, type Hint } from "./hint";
import type { Cursor } from "./repository";

/** The most hints that wait for a caller that reads slowly. Beyond it, one hint asks the caller to read everything again. */
const WAITING_MAX = 200;
/** Credentials are read before the stream opens, and the clocks of instances differ a little. */
const KEY_READ_BEFORE_MS = 2000;

export interface Batch {
  readonly event: "ready" | "changes" | "heartbeat";
  readonly cursor: Cursor;
  readonly hints: readonly Omit<Hint, "private">[];
}

/** One stream. Equal hints that wait are one. */
export class Subscriber implements AsyncIterableIterator<Batch, undefined> {
  readonly #waiting = new Map<string, Hint>();
  #event: Batch["event"] | null = null;
  #isReady = false;
  #isOver = false;
  #isBroken = false;
  #wake: (() => void) | null = null;
  /** Of the person's notifications; null: not read yet. */
  boxVersion: number | null = null;

  constructor(
    readonly actor: Actor,
    /** The stream has sent every hint up to this point, or holds it in its queue. */
    private readonly cursorOf: () => Cursor,
    private readonly onLeave: () => void,
    private readonly openedAt: Date,
  ) {}

  /** The person whose notifications the stream reports; null for an API key. */
  get userId(): string | null {
    return this.actor.type === "user" ? this.actor.userId : null;
  }

  push(hints: readonly Hint[]): void {
    const { actor } = this;
    // The key's scopes may have changed, so its stream begins anew. Older changes were in what the key was authenticated with.
    const knownUntilMs = this.openedAt.getTime() - KEY_READ_BEFORE_MS;
    const isUnknown = ({ at, isNew }: Hint) => isNew !== true && at.getTime() >= knownUntilMs;
    const isOwnKey = ({ kind, id }: Hint) => kind === "keys" && actor.type === "apiKey" && id === actor.keyId;
    if (hints.some((hint) => isOwnKey(hint) && isUnknown(hint))) {
      this.fail();
      return;
    }
    for (const hint of hints) this.#add(hint);
    if (this.#waiting.size > 0) this.#signal("changes");
  }

  #add(hint: Hint): void {
    const shown = shownTo(this.actor, hint);
    if (shown === null || this.#waiting.has("all ")) return;
    if (this.#waiting.size >= WAITING_MAX) {
      this.#waiting.clear();
      this.#waiting.set("all ", { kind: "all", id: null, at: hint.at, private: false });
      return;
    }
    this.#waiting.set(`${shown.kind} ${shown.id ?? ""}`, shown);
  }

  /** Everything that the stream missed is waiting now. */
  ready(): void {
    this.#isReady = true;
    this.#signal("ready");
  }

  heartbeat(): void {
    this.#signal("heartbeat");
  }

  #signal(event: Batch["event"]): void {
    // Before that the cursor would pass over what is still being read.
    if (!this.#isReady) return;
    if (this.#event === null || this.#event === "heartbeat") this.#event = event;
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** The stream breaks: its caller comes back with the last place that it knows. */
  fail(): void {
    this.#isBroken = true;
    this.end();
  }

  async next(): Promise<IteratorResult<Batch, undefined>> {
    while (!this.#isOver && this.#event === null) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = null;
    }
    if (this.#isBroken) {
      this.onLeave();
      throw new Error("Changes could not be read.");
    }
    if (this.#isOver || this.#event === null) return this.return();
    const event = this.#event;
    const hints = [...this.#waiting.values()].map(({ kind, id, at }) => ({ kind, id, at }));
    this.#waiting.clear();
    this.#event = null;
    return { done: false, value: { event, hints, cursor: this.cursorOf() } };
  }

  return(): Promise<IteratorResult<Batch, undefined>> {
    this.#isOver = true;
    this.onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

import type { Actor } from "@/lib/core/actor";
import { type Hint, hintsOfAction, hintsOfEvent, shownTo } from "./hint";
import { CHANGE_CHANNEL, type ChangesRepository, type ProjectCursor } from "./repository";
import type { Cursor, Found } from "./rows";
import type { Clock } from "@/lib/core/clock";
import type { Ticker } from "@/lib/core/ticker";
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";

/**
 * Maximum number of hints that wait for a slow reader. Beyond it, a single hint replaces them and
 * makes the caller read everything again.
 */
const WAITING_MAX = 200;
/**
 * Changes of a stream's API key count as unknown from this many milliseconds before the stream
 * opened. The key was read before the opening, and the clocks of instances differ slightly.
 */
const KEY_READ_BEFORE_MS = 2000;

export interface Batch {
  readonly event: "ready" | "changes" | "heartbeat";
  readonly cursor: Cursor;
  readonly hints: readonly Omit<Hint, "private">[];
}

/** One stream. Equal waiting hints are merged. */
export class Subscriber implements AsyncIterableIterator<Batch, undefined> {
  readonly #waiting = new Map<string, Hint>();
  #event: Batch["event"] | null = null;
  #isReady = false;
  #isOver = false;
  #isBroken = false;
  #wake: (() => void) | null = null;
  /** Version of the person's notifications; null when not read yet. */
  boxVersion: number | null = null;

  constructor(
    readonly actor: Actor,
    /** Position up to which every hint was sent or is in the queue. */
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
    // A change of the stream's own API key may have changed its scopes, so the stream breaks and
    // the caller reconnects. A change before `knownUntilMs` was known when the key was
    // authenticated.
    const knownUntilMs = this.openedAt.getTime() - KEY_READ_BEFORE_MS;
    const isUnknown = ({ at, isNew }: Hint) => isNew !== true && at.getTime() >= knownUntilMs;
    const isOwnKey = ({ kind, id }: Hint) =>
      kind === "keys" && actor.type === "apiKey" && id === actor.keyId;
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

  /** Called when everything that the stream missed is in its queue. */
  ready(): void {
    this.#isReady = true;
    this.#signal("ready");
  }

  heartbeat(): void {
    this.#signal("heartbeat");
  }

  #signal(event: Batch["event"]): void {
    // Before the stream is ready, a cursor would skip changes that are still being read.
    if (!this.#isReady) return;
    if (this.#event === null || this.#event === "heartbeat") this.#event = event;
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /**
   * Breaks the stream, so that its caller reconnects with the last position that the caller knows.
   */
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

// Reads the changes of all projects that streams of this instance watch, once for all streams.

/**
 * Interval in milliseconds at which all watched projects are also polled, because announcements are
 * lost when the connection breaks.
 */
const POLL_MS = 1000;
const PARKED_MS = 10_000;
/**
 * Maximum number of events, and of audit entries, that one read returns for a project. A project
 * with more of them is read again immediately.
 */
export const ROWS_MAX = 500;

export interface Watched {
  readonly projectId: string;
  /** Every ready subscriber has received everything up to this position. */
  cursor: Cursor;
  /** Ids of the project's parked jobs; null when not read yet. */
  parked: string | null;
  readonly subscribers: Set<Subscriber>;
}

interface FeedDeps {
  readonly repository: ChangesRepository;
  readonly ticker: Ticker;
  readonly listener: { on(channel: string, handler: (payload: string) => void): () => void };
  readonly clock: Clock;
}

export const hintsOf = (found: Found): readonly Hint[] =>
  found.list === "events" ? hintsOfEvent(found) : hintsOfAction(found);

const after = (cursor: Cursor, rows: readonly Found[]): Cursor => ({
  events: Math.max(
    cursor.events,
    ...rows.filter(({ list }) => list === "events").map(({ seq }) => seq),
  ),
  audit: Math.max(
    cursor.audit,
    ...rows.filter(({ list }) => list === "audit").map(({ seq }) => seq),
  ),
});

/**
 * Compares the watched projects with the database, and sends subscribers a hint for each change.
 */
const createTelling = (
  { repository, clock }: FeedDeps,
  watched: ReadonlyMap<string, Watched>,
) => {
  /**
   * Sends the hints of the rows to the subscribers of their projects, and moves the cursors.
   * @returns the projects that may have more changes
   */
  const tellNews = (found: readonly Found[]): readonly string[] => {
    const full: string[] = [];
    for (const project of watched.values()) {
      const rows = found.filter(({ projectId }) => projectId === project.projectId);
      if (rows.length === 0) continue;
      const hints = rows.flatMap(hintsOf);
      for (const subscriber of project.subscribers) subscriber.push(hints);
      project.cursor = after(project.cursor, rows);
      if (rows.length >= ROWS_MAX) full.push(project.projectId);
    }
    return full;
  };

  const tellBoxes = async (projects: readonly Watched[]): Promise<void> => {
    // A subscriber that joins during this read is served by the next one.
    const asked = projects.flatMap(({ projectId, subscribers }) =>
      [...subscribers].flatMap((subscriber) => {
        const { userId } = subscriber;
        return userId === null ? [] : [{ subscriber, projectId, userId }];
      }),
    );
    if (asked.length === 0) return;
    const boxes = await repository.boxes(asked);
    const versions = new Map(
      boxes.map(({ projectId, userId, version }) => [`${projectId} ${userId}`, version]),
    );
    for (const { subscriber, projectId, userId } of asked) {
      const before = subscriber.boxVersion;
      subscriber.boxVersion = versions.get(`${projectId} ${userId}`) ?? 0;
      if (before !== null && before !== subscriber.boxVersion)
        subscriber.push([{ kind: "notifications", id: null, at: clock.now(), private: false }]);
    }
  };

  const tellParked = async (): Promise<void> => {
    const parked = await repository.parked([...watched.keys()]);
    for (const project of watched.values()) {
      const ids = parked.get(project.projectId) ?? "";
      const before = project.parked;
      project.parked = ids;
      if (before === null || before === ids) continue;
      for (const subscriber of project.subscribers)
        subscriber.push([{ kind: "inbox", id: null, at: clock.now(), private: false }]);
    }
  };

  return { tellNews, tellBoxes, tellParked };
};

export const createFeed = (deps: FeedDeps) => {
  const { repository, ticker, listener } = deps;
  const watched = new Map<string, Watched>();
  const { tellNews, tellBoxes, tellParked } = createTelling(deps, watched);
  let stopReading: (() => void) | null = null;
  let isReading = false;
  let due = new Set<string>();

  const readOnce = async (projectIds: ReadonlySet<string>): Promise<void> => {
    const projects = [...watched.values()].filter(({ projectId }) => projectIds.has(projectId));
    const cursors: ProjectCursor[] = projects.map(({ projectId, cursor }) => ({
      projectId,
      ...cursor,
    }));
    if (cursors.length === 0) return;
    const full = tellNews(await repository.newer(cursors, ROWS_MAX));
    for (const projectId of full) due.add(projectId);
    await tellBoxes(projects);
  };

  /** Runs one read at a time. Projects that become due during a read are read afterwards. */
  const read = async (projectIds: Iterable<string>): Promise<void> => {
    for (const projectId of projectIds) due.add(projectId);
    if (isReading) return;
    isReading = true;
    try {
      while (due.size > 0) {
        const reading = due;
        due = new Set();
        await readOnce(reading);
      }
    } catch {
      // The cursors have not moved past rows that were not read, so the next poll reads them.
    } finally {
      isReading = false;
    }
  };

  const startReading = (): (() => void) => {
    const stops = [
      ticker.every(POLL_MS, () => void read(watched.keys())),
      // The next tick tries again.
      ticker.every(PARKED_MS, () => void tellParked().catch(() => undefined)),
      listener.on(CHANGE_CHANNEL, (projectId) => {
        if (watched.has(projectId)) void read([projectId]);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  };

  return {
    watched,

    add: async (projectId: string, subscriber: Subscriber): Promise<Watched> => {
      const head = watched.has(projectId) ? null : await repository.head(projectId);
      const known = watched.get(projectId);
      const start = head ?? { events: 0, audit: 0 };
      const project = known ?? {
        projectId,
        cursor: start,
        parked: null,
        subscribers: new Set<Subscriber>(),
      };
      project.subscribers.add(subscriber);
      watched.set(projectId, project);
      stopReading ??= startReading();
      return project;
    },

    remove: (projectId: string, subscriber: Subscriber): void => {
      const project = watched.get(projectId);
      if (project?.subscribers.delete(subscriber) !== true || project.subscribers.size > 0)
        return;
      watched.delete(projectId);
      if (watched.size > 0) return;
      stopReading?.();
      stopReading = null;
    },
  };
};

// Detects balances that changed without an operation of the project, for example by an incoming
// transfer to a wallet.

const LOOK_MS = 3000;
/**
 * Minimum interval between the starts of two reads of a project's balances, as a multiple of the
 * duration of the first read. A project whose balances take long to read is therefore read less
 * often.
 */
const REST_FACTOR = 20;
const AT_ONCE = 4;
/** Number of projects whose last balances are remembered, even while nobody watches them. */
const LOOKS_MAX = 1000;

interface BalanceWatchDeps {
  /** The balances of all wallets of a project, as a text that changes with them. */
  readonly read: (projectId: string) => Promise<string>;
  readonly watched: ReadonlyMap<string, Watched>;
  readonly ticker: Ticker;
  readonly clock: Clock;
  /** In milliseconds; the default clock is monotonic. */
  readonly monotonicMs?: () => number;
}

interface Look {
  readonly digest: string;
  readonly dueMs: number;
}

/**
 * Compares the balances of the watched projects every three seconds, once per project for all of
 * its streams. This instance's first look at a project counts as a change, because it is unknown
 * which balances the project's pages have read.
 */
export const createBalanceWatch = (deps: BalanceWatchDeps) => {
  const { read, watched, ticker, clock, monotonicMs = () => performance.now() } = deps;
  const looks = new LRUCache<string, Look>({ max: LOOKS_MAX });
  let isLooking = false;
  let stop: (() => void) | null = null;

  const look = async ({ projectId, subscribers }: Watched): Promise<void> => {
    const startedMs = monotonicMs();
    const before = looks.get(projectId);
    // Balances that cannot be read now are compared the next time.
    const text = await read(projectId).catch(() => null);
    const tookMs = monotonicMs() - startedMs;
    const digest =
      text === null
        ? (before?.digest ?? "")
        : createHash("sha256").update(text).digest("base64");
    looks.set(projectId, {
      digest,
      dueMs: startedMs + Math.max(LOOK_MS, tookMs * REST_FACTOR),
    });
    if (digest === (before?.digest ?? "")) return;
    for (const subscriber of subscribers)
      subscriber.push([{ kind: "balances", id: null, at: clock.now(), private: false }]);
  };

  const lookAtAll = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const due = [...watched.values()].filter(
        ({ projectId }) => (looks.get(projectId)?.dueMs ?? 0) <= monotonicMs(),
      );
      const next = due.values();
      const work = async (): Promise<void> => {
        for (const project of next) await look(project);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } finally {
      isLooking = false;
    }
  };

  return {
    /**
     * Starts the comparison when there is a watched project, and ends it when there is none. Called
     * when a project is added or removed.
     */
    follow: (): void => {
      if (watched.size === 0) {
        stop?.();
        stop = null;
      } else stop ??= ticker.every(LOOK_MS, () => void lookAtAll());
    },
  };
};

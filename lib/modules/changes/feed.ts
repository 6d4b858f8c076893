/** Reads the changes in all projects that streams of this instance watch, once for all of them. */
import type { Clock } from "@/lib/core/clock";
import type { Ticker } from "@/lib/core/ticker";
import { hintsOfAction, hintsOfEvent, type Hint } from "./hint";
import { CHANGE_CHANNEL, type ChangesRepository, type Cursor, type Found, type ProjectCursor } from "./repository";
import type { Subscriber } from "./subscriber";

/** Announcements are lost when their connection breaks, so everything watched is also polled. */
const POLL_MS = 1000;
const PARKED_MS = 10_000;
/** Rows of each list in one reading. A project that has more is read again at once. */
export const ROWS_MAX = 500;

export interface Watched {
  readonly projectId: string;
  /** Every subscriber that is ready has got everything up to this point. */
  cursor: Cursor;
  /** Ids of its stopped work; null: not read yet. */
  parked: string | null;
  readonly subscribers: Set<Subscriber>;
}

export interface FeedDeps {
  readonly repository: ChangesRepository;
  readonly ticker: Ticker;
  readonly listener: { on(channel: string, handler: (payload: string) => void): () => void };
  readonly clock: Clock;
}

export const hintsOf = (found: Found): readonly Hint[] =>
  found.list === "events" ? hintsOfEvent(found) : hintsOfAction(found);

const after = (cursor: Cursor, rows: readonly Found[]): Cursor => ({
  events: Math.max(cursor.events, ...rows.filter(({ list }) => list === "events").map(({ seq }) => seq)),
  audit: Math.max(cursor.audit, ...rows.filter(({ list }) => list === "audit").map(({ seq }) => seq)),
});

/** Compares the watched projects with the database, and sends subscribers a hint of each change. */
const createTelling = ({ repository, clock }: FeedDeps, watched: ReadonlyMap<string, Watched>) => {
  /** @returns the projects that may have more */
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
    // Subscribers that come during the reading are served by the next one.
    const asked = projects.flatMap(({ projectId, subscribers }) =>
      [...subscribers].flatMap((subscriber) => {
        const { userId } = subscriber;
        return userId === null ? [] : [{ subscriber, projectId, userId }];
      }),
    );
    if (asked.length === 0) return;
    const boxes = await repository.boxes(asked);
    const versions = new Map(boxes.map(({ projectId, userId, version }) => [`${projectId} ${userId}`, version]));
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
  /** Projects that are to be read. */
  let due = new Set<string>();

  const readOnce = async (projectIds: ReadonlySet<string>): Promise<void> => {
    const projects = [...watched.values()].filter(({ projectId }) => projectIds.has(projectId));
    const cursors: ProjectCursor[] = projects.map(({ projectId, cursor }) => ({ projectId, ...cursor }));
    if (cursors.length === 0) return;
    const full = tellNews(await repository.newer(cursors, ROWS_MAX));
    for (const projectId of full) due.add(projectId);
    await tellBoxes(projects);
  };

  /** One reading at a time; projects that become due during one are read after it. */
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
      // The next poll reads the same again, because no cursor has moved.
    } finally {
      isReading = false;
    }
  };

  const startReading = (): (() => void) => {
    const stops = [
      ticker.every(POLL_MS, () => void read(watched.keys())),
      // A failed look at the parked jobs is repeated at the next tick.
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

    /** @returns the project as it is watched from now on */
    add: async (projectId: string, subscriber: Subscriber): Promise<Watched> => {
      const head = watched.has(projectId) ? null : await repository.head(projectId);
      const known = watched.get(projectId);
      const start = head ?? { events: 0, audit: 0 };
      const project = known ?? { projectId, cursor: start, parked: null, subscribers: new Set<Subscriber>() };
      project.subscribers.add(subscriber);
      watched.set(projectId, project);
      stopReading ??= startReading();
      return project;
    },

    remove: (projectId: string, subscriber: Subscriber): void => {
      const project = watched.get(projectId);
      if (project?.subscribers.delete(subscriber) !== true || project.subscribers.size > 0) return;
      watched.delete(projectId);
      if (watched.size > 0) return;
      stopReading?.();
      stopReading = null;
    },
  };
};

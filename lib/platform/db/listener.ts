import pg from "pg";
import type { Announcement } from "./sql";
import { connectionOf, SERVICE_LIMITS } from "./pool";

const RECONNECT_MS = 500;
const QUERY_TIMEOUT_MS = 25_000;
const CHANNEL_PATTERN = /^[a-z_]+$/;
/**
 * Announcements are collected for this long after a NOTIFY, so that an instance sends at most 50 a
 * second.
 */
const GATHER_MS = 20;
/**
 * When more announcements than this are collected, the others are not sent. Other instances then
 * find the changes when they poll.
 */
const WAITING_MAX = 1000;

// One statement, and so one transaction, for all announcements. It writes no rows, so its commit
// does not wait for the disk.
const NOTIFY =
  "SELECT pg_notify(told.channel, told.payload) FROM unnest($1::text[], $2::text[]) AS told (channel, payload)";

export interface Listener {
  /**
   * Calls `handler` with each payload that any instance announces on the channel. Returns a
   * function that removes the handler.
   */
  on(channel: string, handler: (payload: string) => void): () => void;
  /**
   * Notifies this instance directly, and all others with one statement for all collected
   * announcements that are not local. Equal announcements are sent once.
   */
  tell(announcements: readonly Announcement[]): void;
  close(): Promise<void>;
}

const nameOf = ({ channel, payload }: Announcement): string => `${channel} ${payload}`;

/**
 * A function that runs a statement after all earlier ones, because the driver takes one at a time.
 * A statement that fails, or has no client, is dropped.
 */
type Run = (
  client: pg.Client | null,
  text: string,
  values?: readonly string[][],
) => Promise<void>;

const createRun = (): Run => {
  let last = Promise.resolve();
  return (client, text, values) => {
    last = last.then(async () => {
      await client
        ?.query(text, values === undefined ? undefined : [...values])
        .catch(() => undefined);
    });
    return last;
  };
};

/**
 * Sends announcements to the other instances, one statement at a time. Announcements that cannot be
 * sent are dropped.
 */
const createTeller = (run: (text: string, values: readonly string[][]) => Promise<void>) => {
  let waiting = new Map<string, Announcement>();
  let timer: NodeJS.Timeout | null = null;

  const send = async (): Promise<void> => {
    const told = [...waiting.values()];
    waiting = new Map();
    const values = [told.map(({ channel }) => channel), told.map(({ payload }) => payload)];
    await run(NOTIFY, values);
    timer = setTimeout(next, GATHER_MS).unref();
  };
  const next = (): void => {
    timer = null;
    if (waiting.size > 0) start(0);
  };
  const start = (afterMs: number): void => {
    timer ??= setTimeout(() => void send(), afterMs).unref();
  };

  return {
    add: (announcements: readonly Announcement[]): void => {
      for (const each of announcements)
        if (waiting.size < WAITING_MAX) waiting.set(nameOf(each), each);
      start(0);
    },
    stop: (): void => {
      if (timer !== null) clearTimeout(timer);
    },
  };
};

/**
 * The handlers of this process. They run after the caller of `tell` returns, once for equal
 * announcements.
 */
const createHandlers = () => {
  const handlers = new Map<string, Set<(payload: string) => void>>();
  let waiting = new Map<string, Announcement>();
  const call = ({ channel, payload }: Announcement): void => {
    for (const handler of handlers.get(channel) ?? []) handler(payload);
  };
  const callAll = (): void => {
    const due = [...waiting.values()];
    waiting = new Map();
    for (const each of due) call(each);
  };
  return {
    call,
    channels: (): string[] => [...handlers.keys()],
    tell: (announcements: readonly Announcement[]): void => {
      if (waiting.size === 0) setImmediate(callAll);
      for (const each of announcements) waiting.set(nameOf(each), each);
    },
    add: (
      channel: string,
      handler: (payload: string) => void,
    ): { isNew: boolean; remove: () => void } => {
      const known = handlers.get(channel) ?? new Set();
      const isNew = known.size === 0;
      handlers.set(channel, known.add(handler));
      return { isNew, remove: () => void known.delete(handler) };
    },
  };
};

/**
 * One connection on which the whole process listens and notifies. A lost connection is opened
 * again. Notifications that are sent while there is no connection are lost, so every listener must
 * also poll.
 * @param url null to connect nowhere: this process then notifies only itself, and finds the changes
 * of other instances by polling
 */
export const createListener = (url: string | null): Listener => {
  const handlers = createHandlers();
  let client: pg.Client | null = null;
  let connecting: Promise<void> | null = null;
  let closed = false;

  const connect = async (to: string): Promise<void> => {
    const timeouts = { connectionTimeoutMillis: 10_000, query_timeout: QUERY_TIMEOUT_MS };
    const next = new pg.Client({ ...connectionOf(to, SERVICE_LIMITS), ...timeouts });
    next.on("error", () => undefined);
    next.on("end", () => {
      if (client === next) client = null;
      connecting = null;
      if (!closed) setTimeout(ensure, RECONNECT_MS).unref();
    });
    next.on("notification", ({ channel, payload, processId }) => {
      // Ignores notifications from this process, whose handlers have run already.
      if (processId !== (next as unknown as { processID: number | null }).processID)
        handlers.call({ channel, payload: payload ?? "" });
    });
    await next.connect();
    // Repeats until no new channel was added, because a channel may be added while others are being
    // registered.
    for (const heard = new Set<string>(); ;) {
      const channel = handlers.channels().find((name) => !heard.has(name));
      if (channel === undefined) break;
      await next.query(`LISTEN ${channel}`);
      heard.add(channel);
    }
    client = next;
  };

  const ensure = (): void => {
    if (url === null || closed || client !== null || connecting !== null) return;
    connecting = connect(url).catch(() => {
      connecting = null;
      if (!closed) setTimeout(ensure, RECONNECT_MS).unref();
    });
  };
  const run = createRun();
  const teller = createTeller((text, values) => run(client, text, values));

  return {
    on: (channel, handler) => {
      if (!CHANNEL_PATTERN.test(channel)) throw new Error(`Not a channel: ${channel}`);
      const { isNew, remove } = handlers.add(channel, handler);
      if (isNew) void run(client, `LISTEN ${channel}`);
      ensure();
      return remove;
    },
    tell: (announcements) => {
      if (closed || announcements.length === 0) return;
      handlers.tell(announcements);
      if (url === null) return;
      const shared = announcements.filter(({ isLocal = false }) => !isLocal);
      if (shared.length === 0) return;
      ensure();
      teller.add(shared);
    },
    close: async () => {
      closed = true;
      teller.stop();
      await connecting?.catch(() => undefined);
      await client?.end();
    },
  };
};

import pg from "pg";
import { connectionOf, SERVICE_LIMITS } from "./limits";

const RECONNECT_MS = 500;
const CHANNEL_PATTERN = /^[a-z_]+$/;

export interface Listener {
  /** Calls `handler` with the payload of each NOTIFY on the channel. Returns a function that stops it. */
  on(channel: string, handler: (payload: string) => void): () => void;
  close(): Promise<void>;
}

/**
 * One connection that listens for the whole process. A lost connection is opened again. Notifications in between are lost,
 * so every listener must also poll.
 */
export const createListener = (url: string): Listener => {
  const handlers = new Map<string, Set<(payload: string) => void>>();
  let client: pg.Client | null = null;
  let connecting: Promise<void> | null = null;
  let closed = false;

  const connect = async (): Promise<void> => {
    const next = new pg.Client({ ...connectionOf(url, SERVICE_LIMITS), connectionTimeoutMillis: 10_000 });
    next.on("error", () => undefined);
    next.on("end", () => {
      if (client === next) client = null;
      connecting = null;
      if (!closed && handlers.size > 0) setTimeout(ensure, RECONNECT_MS).unref();
    });
    next.on("notification", ({ channel, payload }) => {
      for (const handler of handlers.get(channel) ?? []) handler(payload ?? "");
    });
    await next.connect();
    for (const channel of handlers.keys()) await next.query(`LISTEN ${channel}`);
    client = next;
  };

  const ensure = (): void => {
    if (closed || client !== null || connecting !== null) return;
    connecting = connect().catch(() => {
      connecting = null;
      if (!closed) setTimeout(ensure, RECONNECT_MS).unref();
    });
  };

  return {
    on: (channel, handler) => {
      if (!CHANNEL_PATTERN.test(channel)) throw new Error(`Not a channel: ${channel}`);
      const known = handlers.get(channel) ?? new Set();
      const isNew = known.size === 0;
      known.add(handler);
      handlers.set(channel, known);
      if (isNew && client !== null) client.query(`LISTEN ${channel}`).catch(() => undefined);
      ensure();
      return () => {
        known.delete(handler);
      };
    },
    close: async () => {
      closed = true;
      await connecting?.catch(() => undefined);
      await client?.end();
    },
  };
};

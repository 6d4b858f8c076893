/** How long an answer is used. The service renews an access token in its last 5 minutes, so every answer is good for longer than this. */
const KEEP_MS = 240_000;

export interface TokenSource {
  /** The Bearer token for the API; null without a session. @throws what `read` throws, while no token is known yet */
  current(): Promise<string | null>;
  /** The next call asks anew: another tab may have signed in as somebody else. */
  expire(): void;
}

interface TokenSourceOptions {
  /** Asks the service for the session's token; null when the session has ended. */
  readonly read: () => Promise<string | null>;
  readonly nowMs: () => number;
}

/**
 * Keeps the newest access token, and asks for the next one when a call needs it; calls made meanwhile share that question. When the
 * service does not answer, or the session has ended, the last token is kept: if it is not good any more the API refuses it, which
 * every page shows.
 */
export const createTokenSource = ({ read, nowMs }: TokenSourceOptions): TokenSource => {
  let token: string | null = null;
  let readAtMs: number | null = null;
  let running: Promise<string | null> | null = null;

  const ask = async (): Promise<string | null> => {
    const startedMs = nowMs();
    try {
      token = (await read()) ?? token;
      readAtMs = startedMs;
    } catch (error) {
      if (token === null) throw error;
    } finally {
      running = null;
    }
    return token;
  };

  return {
    current: () => {
      if (readAtMs !== null && nowMs() - readAtMs < KEEP_MS) return Promise.resolve(token);
      running ??= ask();
      return running;
    },
    expire: () => {
      readAtMs = null;
    },
  };
};

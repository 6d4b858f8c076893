"use client";

import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

const SESSION_PATH = "/api/auth/session";
const TIMEOUT_MS = 10_000;

const readToken = async (): Promise<string | null> => {
  const response = await fetch(SESSION_PATH, {
    cache: "no-store",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok)
    throw new Error(`The session was answered with ${String(response.status)}.`);
  const session = (await response.json()) as { readonly accessToken?: string };
  return session.accessToken ?? null;
};

const SIGNED_OUT: TokenSource = {
  current: () => Promise.resolve(null),
  expire: () => undefined,
};

const AccessTokenContext = createContext<TokenSource>(SIGNED_OUT);

interface ProviderProps {
  readonly signedIn: boolean;
  readonly children: ReactNode;
}

/**
 * Provides the access token for the API calls of the page. The token is never part of a page's
 * HTML. The browser requests it with its cookie, and API calls wait for the answer.
 */
export const AccessTokenProvider = ({ signedIn, children }: ProviderProps): ReactNode => {
  const [source] = useState(() =>
    signedIn
      ? createTokenSource({ read: readToken, nowMs: () => performance.now() })
      : SIGNED_OUT,
  );
  useEffect(() => {
    const expire = (): void => {
      if (document.visibilityState === "visible") source.expire();
    };
    document.addEventListener("visibilitychange", expire);
    return () => document.removeEventListener("visibilitychange", expire);
  }, [source]);
  return <AccessTokenContext.Provider value={source}>{children}</AccessTokenContext.Provider>;
};

export const useAccessToken = (): TokenSource => useContext(AccessTokenContext);

/**
 * How long a token is used before it is requested again. The service renews a token in its last 5
 * minutes, so every answered token is valid for longer than this.
 */
const KEEP_MS = 240_000;

interface TokenSource {
  /**
   * The Bearer token for the API; null without a session.
   *
   * @throws the error of `read` while no token is known yet
   */
  current(): Promise<string | null>;
  /**
   * Makes the next call request the token again, because another tab may have signed in as another
   * person.
   */
  expire(): void;
}

interface TokenSourceOptions {
  /** Reads the session's token from the service; null when the session has ended. */
  readonly read: () => Promise<string | null>;
  readonly nowMs: () => number;
}

/**
 * Caches the newest access token and renews it when a call needs it. Concurrent calls share one
 * request. When the service does not answer or the session has ended, the last token is used. If
 * that token is no longer valid, the API rejects it, and every page shows the error.
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

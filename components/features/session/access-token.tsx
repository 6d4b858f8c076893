"use client";

import { createContext, useContext, useEffect, useState, type ReactNode } from "react";
import { createTokenSource, type TokenSource } from "./token-source";

const SESSION_PATH = "/api/auth/session";
const TIMEOUT_MS = 10_000;

const readToken = async (): Promise<string | null> => {
  const response = await fetch(SESSION_PATH, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`The session was answered with ${String(response.status)}.`);
  const session = (await response.json()) as { readonly accessToken?: string };
  return session.accessToken ?? null;
};

const SIGNED_OUT: TokenSource = { current: () => Promise.resolve(null), expire: () => undefined };

const AccessTokenContext = createContext<TokenSource>(SIGNED_OUT);

interface ProviderProps {
  readonly signedIn: boolean;
  readonly children: ReactNode;
}

/** The access token is in no page's HTML: the browser asks for it with its cookie, and calls of the API wait for the answer. */
export const AccessTokenProvider = ({ signedIn, children }: ProviderProps): ReactNode => {
  const [source] = useState(() =>
    signedIn ? createTokenSource({ read: readToken, nowMs: () => performance.now() }) : SIGNED_OUT,
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

/** Where the Bearer token for the API comes from. */
export const useAccessToken = (): TokenSource => useContext(AccessTokenContext);

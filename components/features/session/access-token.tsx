"use client";

import { useSession } from "next-auth/react";
import { createContext, useContext, useEffect, useState, type ReactNode } from "react";

const AccessTokenContext = createContext<string | null>(null);

/**
 * Keeps the newest access token of the session. next-auth says "no session" also when the service did not answer for a moment;
 * the last token is kept then, and if the session has really ended the API refuses it, which every page shows.
 */
export const AccessTokenProvider = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const newest = useSession().data?.accessToken;
  const [token, setToken] = useState(newest ?? null);
  useEffect(() => {
    if (newest !== undefined) setToken(newest);
  }, [newest]);
  return <AccessTokenContext.Provider value={token}>{children}</AccessTokenContext.Provider>;
};

/** The Bearer token for the API; null while signed out. */
export const useAccessToken = (): string | null => useContext(AccessTokenContext);

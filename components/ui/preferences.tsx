"use client";

import { createContext, useContext, useSyncExternalStore, type ReactNode } from "react";
import { PREFERENCE_COOKIES, preferenceOf, type Preference, type Preferences } from "@/lib/core/browser-cookies";

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** Cookies tell other tabs nothing; a change of this key does. */
const CHANGED_KEY = "causeway.preferences.changed";

const listeners = new Set<() => void>();

/** In the browser alone; on the server it is null. */
export const readPreference = (preference: Preference): string | null => {
  if (typeof document === "undefined") return null;
  const start = `${PREFERENCE_COOKIES[preference]}=`;
  const found = document.cookie.split("; ").find((cookie) => cookie.startsWith(start));
  if (found === undefined) return null;
  try {
    return preferenceOf(preference, decodeURIComponent(found.slice(start.length)));
  } catch {
    // It is not percent-encoded text, so this page did not write it.
    return null;
  }
};

/** @param value null forgets it */
export const writePreference = (preference: Preference, value: string | null): void => {
  const lifetime = value === null ? 0 : YEAR_SECONDS;
  const secure = window.location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${PREFERENCE_COOKIES[preference]}=${encodeURIComponent(value ?? "")}; path=/; max-age=${String(lifetime)}; samesite=lax${secure}`;
  try {
    localStorage.setItem(CHANGED_KEY, `${preference} ${String(Date.now())}`);
  } catch {
    // Other tabs then see the change when they are loaded.
  }
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
};

const PreferencesContext = createContext<Preferences>({ project: null, amountsHidden: null, firstStepsHidden: null });

interface ProviderProps {
  /** As the request's cookies had them. */
  readonly sent: Preferences;
  readonly children: ReactNode;
}

export const PreferencesProvider = ({ sent, children }: ProviderProps): ReactNode => (
  <PreferencesContext.Provider value={sent}>{children}</PreferencesContext.Provider>
);

/** The same on the server and in the first drawing of the browser, which both know the request's cookies. */
export const usePreference = (preference: Preference): string | null => {
  const sent = useContext(PreferencesContext)[preference];
  return useSyncExternalStore(
    subscribe,
    () => readPreference(preference),
    () => sent,
  );
};

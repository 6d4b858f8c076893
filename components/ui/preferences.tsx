"use client";

import { createContext, useContext, useSyncExternalStore, type ReactNode } from "react";
import {
  PREFERENCE_COOKIES,
  preferenceOf,
  type Preference,
  type Preferences,
} from "@/lib/core/browser-cookies";

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** Key in localStorage that notifies other tabs, because they do not notice changes of cookies. */
const CHANGED_KEY = "causeway.preferences.changed";

const listeners = new Set<() => void>();

/** Reads a preference from the browser's cookies; null on the server. */
export const readPreference = (preference: Preference): string | null => {
  if (typeof document === "undefined") return null;
  const start = `${PREFERENCE_COOKIES[preference]}=`;
  const found = document.cookie.split("; ").find((cookie) => cookie.startsWith(start));
  if (found === undefined) return null;
  try {
    return preferenceOf(preference, decodeURIComponent(found.slice(start.length)));
  } catch {
    // The value is not percent-encoded, so this page did not write it.
    return null;
  }
};

/**
 * Stores a preference in a cookie, and notifies the page and other tabs.
 * @param value null deletes the preference
 */
export const writePreference = (preference: Preference, value: string | null): void => {
  const lifetime = value === null ? 0 : YEAR_SECONDS;
  const secure = window.location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${PREFERENCE_COOKIES[preference]}=${encodeURIComponent(value ?? "")}; path=/; max-age=${String(lifetime)}; samesite=lax${secure}`;
  try {
    localStorage.setItem(CHANGED_KEY, `${preference} ${String(Date.now())}`);
  } catch {
    // Without localStorage, other tabs see the change when they are reloaded.
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

const PreferencesContext = createContext<Preferences>({
  project: null,
  amountsHidden: null,
  firstStepsHidden: null,
});

interface ProviderProps {
  /** The preferences in the request's cookies. */
  readonly sent: Preferences;
  readonly children: ReactNode;
}

export const PreferencesProvider = ({ sent, children }: ProviderProps): ReactNode => (
  <PreferencesContext.Provider value={sent}>{children}</PreferencesContext.Provider>
);

/** A preference. Server and browser render the same value at first, from the request's cookies. */
export const usePreference = (preference: Preference): string | null => {
  const sent = useContext(PreferencesContext)[preference];
  return useSyncExternalStore(
    subscribe,
    () => readPreference(preference),
    () => sent,
  );
};

"use client";

import { useSyncExternalStore } from "react";

const KEY = "causeway.activity-views";
const VIEWS_MAX = 20;
export const VIEW_NAME_MAX = 40;
const SEARCH_MAX = 1000;

/**
 * A name for a query string of the activity page, such as `status=failed&from=2026-11-01`. Stored
 * in this browser.
 */
export interface SavedView {
  readonly name: string;
  readonly search: string;
}

// Checked by hand, because zod would be about a seventh of the page's scripts.
const isText = (value: unknown, least: number, most: number): boolean =>
  typeof value === "string" && value.length >= least && value.length <= most;
const isView = (value: unknown): value is SavedView =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "search" in value &&
  isText(value.name, 1, VIEW_NAME_MAX) &&
  isText(value.search, 0, SEARCH_MAX);

/** Views that every person has. They are not stored. */
export const COMMON_VIEWS: readonly SavedView[] = [
  { name: "In progress", search: "status=pending,processing" },
  { name: "Failed or returned", search: "status=failed,refunded,partially_completed" },
];

export const parseViews = (text: string | null): readonly SavedView[] => {
  try {
    const views: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(views) && views.length <= VIEWS_MAX && views.every(isView)
      ? views.map(({ name, search }) => ({ name, search }))
      : [];
  } catch {
    // Another version of the app or another program stored a value that cannot be parsed.
    return [];
  }
};

/** Adds a view. It replaces a view with the same name. A full list loses its oldest view. */
export const withView = (views: readonly SavedView[], view: SavedView): readonly SavedView[] =>
  [...views.filter(({ name }) => name !== view.name), view].slice(-VIEWS_MAX);

const listeners = new Set<() => void>();
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
};

const store = (views: readonly SavedView[]): void => {
  window.localStorage.setItem(KEY, JSON.stringify(views));
  for (const listener of listeners) listener();
};

interface SavedViews {
  readonly views: readonly SavedView[];
  readonly save: (view: SavedView) => void;
  readonly remove: (name: string) => void;
}

export const useSavedViews = (): SavedViews => {
  const text = useSyncExternalStore(
    subscribe,
    () => window.localStorage.getItem(KEY),
    () => null,
  );
  const views = parseViews(text);
  return {
    views,
    save: (view) => (isView(view) ? store(withView(views, view)) : undefined),
    remove: (name) => store(views.filter((view) => view.name !== name)),
  };
};

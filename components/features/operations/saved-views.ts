"use client";

import { useSyncExternalStore } from "react";
import { z } from "zod";

const KEY = "causeway.activity-views";
const VIEWS_MAX = 20;
const NAME_MAX = 40;

const savedView = z.object({ name: z.string().min(1).max(NAME_MAX), search: z.string().max(1000) });

/** A name for a search of the page's address: `status=failed&from=2026-11-01`. Kept in this browser. */
export type SavedView = z.infer<typeof savedView>;

/** Views that everybody has. */
export const COMMON_VIEWS: readonly SavedView[] = [
  { name: "In progress", search: "status=pending,processing" },
  { name: "Failed or returned", search: "status=failed,refunded,partially_completed" },
];

export const parseViews = (text: string | null): readonly SavedView[] => {
  try {
    return z
      .array(savedView)
      .max(VIEWS_MAX)
      .parse(JSON.parse(text ?? "[]"));
  } catch {
    // Another version or another program wrote it.
    return [];
  }
};

/** The views with this one in them: a view of the same name is replaced, and the oldest leaves a full list. */
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
    save: (view) => store(withView(views, savedView.parse(view))),
    remove: (name) => store(views.filter((view) => view.name !== name)),
  };
};

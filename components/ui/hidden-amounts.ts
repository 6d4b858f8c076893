"use client";

import { useSyncExternalStore } from "react";

const KEY = "causeway.amounts.hidden";
const HIDDEN = "1";

const listeners = new Set<() => void>();
/** Where the browser keeps nothing, the choice lasts as long as the page. */
let kept: string | null = null;

const read = (): boolean => {
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // As said at `kept`.
  }
  return kept === HIDDEN;
};

const write = (hidden: boolean): void => {
  kept = hidden ? HIDDEN : null;
  try {
    if (hidden) localStorage.setItem(KEY, HIDDEN);
    else localStorage.removeItem(KEY);
  } catch {
    // As said at `kept`.
  }
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  // The browser sends this event when another tab hides or shows the amounts.
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
};

/** Whether balances are hidden from onlookers, and the switch for it. Remembered in this browser. */
export const useHiddenAmounts = (): readonly [hidden: boolean, setHidden: (hidden: boolean) => void] => [
  useSyncExternalStore(subscribe, read, () => false),
  write,
];

"use client";

import { usePreference, writePreference } from "./preferences";

const HIDDEN = "1";

const write = (hidden: boolean): void => writePreference("amountsHidden", hidden ? HIDDEN : null);

/** Whether balances are hidden from onlookers, and the switch for it. Remembered in this browser. */
export const useHiddenAmounts = (): readonly [hidden: boolean, setHidden: (hidden: boolean) => void] => [
  usePreference("amountsHidden") === HIDDEN,
  write,
];

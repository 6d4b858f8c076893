"use client";

import { createContext, useContext } from "react";
import { usePreference, writePreference } from "./preferences";

const HIDDEN = "1";

const write = (hidden: boolean): void => writePreference("amountsHidden", hidden ? HIDDEN : null);

/** Whether amounts are hidden from onlookers, and the switch for it. Remembered in this browser. */
export const useHiddenAmounts = (): readonly [hidden: boolean, setHidden: (hidden: boolean) => void] => [
  usePreference("amountsHidden") === HIDDEN,
  write,
];

const AmountsShown = createContext(false);

/** Around a review: a person who approves an amount has to see it, also where the page hides amounts. */
export const AmountsShownProvider = AmountsShown.Provider;

/** Whether amounts are to be hidden here. */
export const useAmountsHidden = (): boolean => {
  const [hidden] = useHiddenAmounts();
  return !useContext(AmountsShown) && hidden;
};

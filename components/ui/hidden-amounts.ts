"use client";

import { createContext, useCallback, useContext } from "react";
import { usePreference, writePreference } from "./preferences";

const HIDDEN = "1";

const write = (hidden: boolean): void =>
  writePreference("amountsHidden", hidden ? HIDDEN : null);

/** Whether amounts are hidden from onlookers, and a setter. Stored in this browser. */
export const useHiddenAmounts = (): readonly [
  hidden: boolean,
  setHidden: (hidden: boolean) => void,
] => [usePreference("amountsHidden") === HIDDEN, write];

const AmountsShown = createContext(false);

/** Shows amounts inside a review even if the page hides them, because the person approves them. */
export const AmountsShownProvider = AmountsShown.Provider;

export const useAmountsHidden = (): boolean => {
  const [hidden] = useHiddenAmounts();
  return !useContext(AmountsShown) && hidden;
};

const MASK = "••••••";

/**
 * Matches a number that is not part of a word, an address or an id, and is not followed by a word,
 * because `3 wallets` is a count.
 */
const AMOUNT = /(?<![\w.,…-])\$?\d[\d.,]*(?![\w-])(?! [a-z]+\b)/g;

/**
 * Masks the amounts in a sentence. Counts such as `3 wallets`, addresses and ids stay unchanged.
 */
export const withoutAmounts = (text: string): string =>
  text.replace(AMOUNT, (found) => `${MASK}${/[.,]$/.exec(found)?.[0] ?? ""}`);

/** Masks the amounts in the service's sentences while amounts are hidden. */
export const useHideableText = (): ((text: string) => string) => {
  const hidden = useAmountsHidden();
  return useCallback((text) => (hidden ? withoutAmounts(text) : text), [hidden]);
};

/**
 * Matches a JSON string that contains only a decimal number, because the API writes amounts in
 * this form. Chain ids and blocks are not strings, and times contain other characters.
 */
const JSON_DECIMAL = /"-?\d+(?:\.\d+)?"/g;

export const withoutJsonAmounts = (json: string): string =>
  json.replace(JSON_DECIMAL, `"${MASK}"`);

/**
 * Masks the amounts in JSON while amounts are hidden, also in dialogs, because people never approve
 * JSON.
 */
export const useHideableJson = (): ((json: string) => string) => {
  const [hidden] = useHiddenAmounts();
  return useCallback((json) => (hidden ? withoutJsonAmounts(json) : json), [hidden]);
};

"use client";

import { useCallback } from "react";
import { useAmountsHidden, useHiddenAmounts } from "./hidden-amounts";

const MASK = "••••••";

/** A number that is no part of a word, an address or an id, and that no plain word follows: `3 wallets` is a count. */
const AMOUNT = /(?<![\w.,…-])\$?\d[\d.,]*(?![\w-])(?! [a-z]+\b)/g;

/** A sentence of the service without its amounts; counts such as `3 wallets`, addresses and ids stay. */
export const withoutAmounts = (text: string): string =>
  text.replace(AMOUNT, (found) => `${MASK}${/[.,]$/.exec(found)?.[0] ?? ""}`);

/** Takes the amounts out of sentences that the service wrote, while amounts are hidden. */
export const useHideableText = (): ((text: string) => string) => {
  const hidden = useAmountsHidden();
  return useCallback((text) => (hidden ? withoutAmounts(text) : text), [hidden]);
};

/** A JSON string that holds a decimal number and nothing else, such as an amount. Chains and blocks have no quotes; times have other characters. */
const JSON_DECIMAL = /"-?\d+(?:\.\d+)?"/g;

/** JSON without its decimal strings, which is how the API writes amounts. */
export const withoutJsonAmounts = (json: string): string => json.replace(JSON_DECIMAL, `"${MASK}"`);

/** Takes the amounts out of JSON while amounts are hidden. JSON is never what a person approves, so dialogs hide them too. */
export const useHideableJson = (): ((json: string) => string) => {
  const [hidden] = useHiddenAmounts();
  return useCallback((json) => (hidden ? withoutJsonAmounts(json) : json), [hidden]);
};

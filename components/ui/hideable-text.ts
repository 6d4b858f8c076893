"use client";

import { useCallback } from "react";
import { useAmountsHidden } from "./hidden-amounts";

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

"use client";

import { useMemo, useSyncExternalStore } from "react";
import { useAmountsHidden } from "./hidden-amounts";

/** Locale of the server's rendering. */
const SERVER_LOCALE = "en";

const subscribe = (listener: () => void): (() => void) => {
  window.addEventListener("languagechange", listener);
  return () => window.removeEventListener("languagechange", listener);
};

/**
 * BCP 47 tag of the reader's language, for formatting numbers. Hydration uses the server's locale.
 */
export const useLocale = (): string =>
  useSyncExternalStore(
    subscribe,
    () => navigator.language,
    () => SERVER_LOCALE,
  );

/**
 * Options for titles with amounts. Hydration uses the server's locale, so that server and browser
 * render the same text.
 */
export const useTitleOptions = (): { readonly hidden: boolean; readonly locale: string } => {
  const hidden = useAmountsHidden();
  const locale = useLocale();
  return useMemo(() => ({ hidden, locale }), [hidden, locale]);
};

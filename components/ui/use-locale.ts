"use client";

import { useSyncExternalStore } from "react";

/** Of what the server draws, before the browser's own is known. */
const SERVER_LOCALE = "en";

const subscribe = (listener: () => void): (() => void) => {
  window.addEventListener("languagechange", listener);
  return () => window.removeEventListener("languagechange", listener);
};

/** BCP 47 tag of the reader's language, by which numbers are written. The first drawing is that of the server. */
export const useLocale = (): string =>
  useSyncExternalStore(
    subscribe,
    () => navigator.language,
    () => SERVER_LOCALE,
  );

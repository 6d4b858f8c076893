"use client";

import { useMemo } from "react";
import { useAmountsHidden } from "./hidden-amounts";
import { useLocale } from "./use-locale";

/** How titles with amounts are written here. The first drawing has the locale of the server, so that the browser can take it over. */
export const useTitleOptions = (): { readonly hidden: boolean; readonly locale: string } => {
  const hidden = useAmountsHidden();
  const locale = useLocale();
  return useMemo(() => ({ hidden, locale }), [hidden, locale]);
};

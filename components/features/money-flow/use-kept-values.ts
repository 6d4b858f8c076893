"use client";

import { useEffect, useState } from "react";
import type { FieldValues, UseFormReturn } from "react-hook-form";
import type { TabStore } from "@/components/ui/tab-store";

interface KeptValues<Values extends FieldValues> {
  readonly form: UseFormReturn<Values>;
  /** Reads values from the link that opened the page; null when it has none. */
  readonly linked: (search: string) => Values | null;
  readonly draft: TabStore<Values>;
  /** Whether a draft is about wallets of this project; other drafts are ignored. */
  readonly isOwn: (draft: Values) => boolean;
}

/**
 * Fills the form from the link that opened the page, else from the tab's stored draft; then stores
 * each change. It runs in an effect, because the server knows neither.
 */
export const useKeptValues = <Values extends FieldValues>({
  form,
  linked,
  draft,
  isOwn,
}: KeptValues<Values>): void => {
  const text = JSON.stringify(form.watch());
  const [isRead, setIsRead] = useState(false);
  useEffect(() => {
    const fromLink = linked(window.location.search);
    const stored = draft.read();
    const fromDraft = stored !== null && isOwn(stored) ? stored : null;
    const values = fromLink ?? fromDraft;
    if (values !== null) form.reset(values);
    // After a reload the stored draft counts, not the link.
    if (fromLink !== null) window.history.replaceState(null, "", window.location.pathname);
    setIsRead(true);
    // Runs once: later answers about wallets and balances do not change the form.
  }, []);
  useEffect(() => {
    if (isRead) draft.save(JSON.parse(text) as Values);
  }, [isRead, text]);
};

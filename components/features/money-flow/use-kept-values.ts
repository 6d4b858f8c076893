"use client";

import { useEffect, useState } from "react";
import type { FieldValues, UseFormReturn } from "react-hook-form";
import type { TabStore } from "@/components/ui/tab-store";

interface KeptValues<Values extends FieldValues> {
  readonly form: UseFormReturn<Values>;
  /** Reads values from the link that opened the page; null when the link has none. */
  readonly linked: (search: string) => Values | null;
  readonly draft: TabStore<Values>;
  /** Whether a draft is about wallets of this project; other drafts are ignored. */
  readonly isOwn: (draft: Values) => boolean;
}

/**
 * Fills the form from the link that opened the page, or else from the tab's stored draft; then
 * stores each change. The server knows neither source, so this runs in an effect.
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
    // Removes the values from the address, so that a reload uses the stored draft.
    if (fromLink !== null) window.history.replaceState(null, "", window.location.pathname);
    setIsRead(true);
    // The effect runs once, so that wallets and balances that load later do not change the form.
  }, []);
  useEffect(() => {
    if (isRead) draft.save(JSON.parse(text) as Values);
  }, [isRead, text]);
};

"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useEffect, useMemo, useRef, useState } from "react";
import {
  type DefaultValues,
  type FieldValues,
  useForm,
  type UseFormReturn,
} from "react-hook-form";
import type { z } from "zod";
import type { TabStore } from "@/components/ui/tab-store";

interface MoneyFormInput<Values extends FieldValues> {
  readonly schema: z.ZodType<Values, Values>;
  /** The values of a form that nobody has changed. They depend on the balances. */
  readonly defaultsOf: () => Values;
  /** Whether the balances have been loaded. */
  readonly isKnown: boolean;
  /**
   * Reads values from the link that opened the page; null when the link has none.
   * @param current the values of the form, for fields that the link does not set
   */
  readonly linked: (search: string, current: Values) => Values | null;
  readonly draft: TabStore<Values>;
  /** Whether a draft is about wallets of this project; other drafts are ignored. */
  readonly isOwn: (draft: Values) => boolean;
}

/**
 * A form that moves money. It is filled from the link that opened the page, or else from the tab's
 * stored draft, or else from the balances. Changes are stored, so that they survive a reload.
 */
export const useMoneyForm = <Values extends FieldValues>(
  input: MoneyFormInput<Values>,
): UseFormReturn<Values> => {
  const { schema, defaultsOf, isKnown } = input;
  const initial = useMemo(defaultsOf, []);
  const form = useForm<Values>({
    resolver: useMemo(() => zodResolver(schema), [schema]),
    mode: "onTouched",
    defaultValues: initial as DefaultValues<Values>,
  });
  const preselected = useRef(JSON.stringify(initial));
  useKeptValues(form, input, preselected.current);
  const wasKnown = useRef(isKnown);
  // When balances load late, a form that nobody changed takes the values that they suggest.
  useEffect(() => {
    if (!isKnown || wasKnown.current) return;
    wasKnown.current = true;
    if (JSON.stringify(form.getValues()) !== preselected.current) return;
    const values = defaultsOf();
    preselected.current = JSON.stringify(values);
    form.reset(values);
  }, [isKnown]);
  return form;
};

/**
 * Fills the form from the link or the draft, and then stores each change. The server knows neither
 * source, so this runs in an effect. Preselected values are not stored as a draft, because they
 * have to follow the balances.
 */
const useKeptValues = <Values extends FieldValues>(
  form: UseFormReturn<Values>,
  { linked, draft, isOwn }: MoneyFormInput<Values>,
  preselected: string,
): void => {
  const text = JSON.stringify(form.watch());
  const [isRead, setIsRead] = useState(false);
  useEffect(() => {
    const fromLink = linked(window.location.search, form.getValues());
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
    if (!isRead) return;
    if (text === preselected) draft.drop();
    else draft.save(JSON.parse(text) as Values);
  }, [isRead, text]);
};

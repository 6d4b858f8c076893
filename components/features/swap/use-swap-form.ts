"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useEffect, useMemo, useState } from "react";
import { useFieldArray, useForm, type FieldPath, type UseFieldArrayReturn, type UseFormReturn } from "react-hook-form";
import { SLIPPAGE_BPS_DEFAULT, SOURCES_MAX } from "@/lib/contracts/swap";
import { typedAmount } from "@/lib/core/read-amount";
import { percentText } from "./decimal";
import { readDraft, saveDraft } from "./draft";
import { swapSchema, tokenOnChain, toQuoteBody, type SourceValues, type SwapValues } from "./form-model";
import { valuesOfLink } from "./swap-link";
import type { QuoteBody } from "./types";
import type { SwapSetup } from "./use-swap-setup";

const DEFAULT_SLIPPAGE = percentText(SLIPPAGE_BPS_DEFAULT).replace(/ .*/, "");

export interface SwapForm {
  readonly form: UseFormReturn<SwapValues>;
  readonly values: SwapValues;
  readonly rows: UseFieldArrayReturn<SwapValues, "sources">["fields"];
  /** Null until the form is complete and right. */
  readonly body: QuoteBody | null;
  readonly mayAdd: boolean;
  readonly addSource: () => void;
  readonly removeSource: (index: number) => void;
  /** Sets a field that is no text input, and checks it once it was touched. */
  readonly choose: (path: FieldPath<SwapValues>, value: string) => void;
  /** Changes a chain and keeps the asset where the new chain has it. */
  readonly chooseChain: (at: number | "destination", chainId: string) => void;
  /** Turns the direction round; only with one source. @param amount to send then, a plain decimal string or empty */
  readonly flip: (amount: string) => void;
  /** Empties the amounts, after they were sent. */
  readonly clearAmounts: () => void;
}

const newSource = (setup: SwapSetup): SourceValues => ({
  address: setup.treasury?.address ?? "",
  chainId: String(setup.chains[0]?.id ?? ""),
  token: "",
  amount: "",
});

const defaultsOf = (setup: SwapSetup): SwapValues => ({
  sources: [newSource(setup)],
  toChainId: String(setup.chains.at(-1)?.id ?? ""),
  toToken: "",
  toAddress: setup.treasury?.address ?? "",
  slippage: DEFAULT_SLIPPAGE,
});

/**
 * Fills the form from the link by which the page was opened, else with what was typed before the tab was reloaded; then keeps what is
 * typed. It begins after the first drawing, because the server knows neither.
 */
const useKeptValues = (setup: SwapSetup, form: UseFormReturn<SwapValues>, text: string): void => {
  const [isRead, setIsRead] = useState(false);
  useEffect(() => {
    const linked = valuesOfLink(setup, window.location.search, form.getValues());
    const values = linked ?? readDraft(setup.wallets.map((wallet) => wallet.address));
    if (values !== null) form.reset(values);
    // Values typed from now on count at a reload, not the link.
    if (linked !== null) window.history.replaceState(null, "", window.location.pathname);
    setIsRead(true);
    // Once: later readings of wallets and balances change nothing that is typed.
  }, []);
  useEffect(() => {
    if (isRead) saveDraft(JSON.parse(text) as SwapValues);
  }, [isRead, text]);
};

/** The typed state of the swap page. Survives a reload of the tab. */
export const useSwapForm = (setup: SwapSetup): SwapForm => {
  const { tokens } = setup;
  const resolver = useMemo(() => zodResolver(swapSchema(tokens)), [tokens]);
  const form = useForm<SwapValues>({
    resolver,
    mode: "onTouched",
    defaultValues: useMemo(() => defaultsOf(setup), []),
  });
  const { fields, append, remove } = useFieldArray({ control: form.control, name: "sources" });
  const values = form.watch();
  useKeptValues(setup, form, JSON.stringify(values));

  const choose = (path: FieldPath<SwapValues>, value: string): void =>
    form.setValue(path, value, { shouldDirty: true, shouldTouch: true, shouldValidate: true });
  const chooseChain = (at: number | "destination", chainId: string): void => {
    const [chainPath, tokenPath] =
      at === "destination"
        ? (["toChainId", "toToken"] as const)
        : ([`sources.${at}.chainId`, `sources.${at}.token`] as const);
    const from = { chainId: form.getValues(chainPath), token: form.getValues(tokenPath) };
    form.setValue(tokenPath, tokenOnChain(tokens, from, chainId), { shouldDirty: true });
    choose(chainPath, chainId);
  };
  const flip = (amount: string): void => {
    const { sources, toChainId, toToken } = form.getValues();
    const [source] = sources;
    if (source === undefined || sources.length > 1) return;
    form.setValue("toChainId", source.chainId);
    form.setValue("toToken", source.token);
    form.setValue("sources.0", { ...source, chainId: toChainId, token: toToken, amount: typedAmount(amount) });
    choose("sources.0.amount", typedAmount(amount));
  };
  return {
    form,
    values,
    rows: fields,
    body: toQuoteBody(tokens, values),
    mayAdd: fields.length < SOURCES_MAX,
    addSource: () => append(newSource(setup), { shouldFocus: true, focusName: `sources.${fields.length}.amount` }),
    removeSource: (index) => remove(index),
    choose,
    chooseChain,
    flip,
    clearAmounts: () => form.getValues("sources").forEach((_, index) => form.setValue(`sources.${index}.amount`, "")),
  };
};

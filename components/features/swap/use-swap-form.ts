"use client";

import { useMemo } from "react";
import {
  type FieldPath,
  useFieldArray,
  type UseFieldArrayReturn,
  type UseFormReturn,
} from "react-hook-form";
import { z } from "zod";
import { useMoneyForm } from "@/components/features/money-flow/use-money-form";
import { tabStore } from "@/components/ui/tab-store";
import { SLIPPAGE_BPS_DEFAULT, SOURCES_MAX } from "@/lib/contracts/swap";
import { typedAmount } from "@/lib/core/read-amount";
import { percentText } from "./decimal";
import { swapSchema, type SwapValues, toQuoteBody } from "./form-model";
import { type ChosenToken, nextSource, preselectionOf } from "./preselection";
import { valuesOfLink } from "./swap-link";
import type { QuoteBody } from "./tokens";
import type { HeldPlace, SwapSetup } from "./use-swap-setup";

const DEFAULT_SLIPPAGE = percentText(SLIPPAGE_BPS_DEFAULT).replace(/ .*/, "");

export interface SwapForm {
  readonly form: UseFormReturn<SwapValues>;
  readonly values: SwapValues;
  readonly rows: UseFieldArrayReturn<SwapValues, "sources">["fields"];
  /** Null until the form is complete and valid. */
  readonly body: QuoteBody | null;
  readonly mayAdd: boolean;
  readonly addSource: () => void;
  readonly removeSource: (index: number) => void;
  /** Sets and validates a field that is not a text input. */
  readonly choose: (path: FieldPath<SwapValues>, value: string) => void;
  /** Sets the wallet, chain and token of a source. */
  readonly choosePlace: (index: number, place: HeldPlace) => void;
  /** Sets the chain and token that are received. */
  readonly chooseTarget: (target: ChosenToken) => void;
  /**
   * Swaps source and destination. Only possible with one source.
   *
   * @param amount the new amount to send, a decimal string or empty
   */
  readonly flip: (amount: string) => void;
  readonly clearAmounts: () => void;
}

const defaultsOf = (setup: SwapSetup): SwapValues => {
  const { source, target } = preselectionOf(setup);
  return {
    sources: [source],
    toChainId: target.chainId,
    toToken: target.token,
    toAddress: setup.treasury?.address ?? "",
    slippage: DEFAULT_SLIPPAGE,
  };
};

/** The state of the swap form. It survives a reload of the tab. */
export const useSwapForm = (setup: SwapSetup): SwapForm => {
  const { tokens } = setup;
  const form = useMoneyForm<SwapValues>({
    schema: useMemo(() => swapSchema(tokens), [tokens]),
    defaultsOf: () => defaultsOf(setup),
    isKnown: setup.balances !== undefined,
    linked: (search, current) => valuesOfLink(setup, search, current),
    draft: swapDraft,
    // Ignores drafts with other wallets. They and their recipients may belong to another person.
    isOwn: ({ sources }) =>
      sources.every(({ address }) =>
        setup.wallets.some((wallet) => wallet.address === address),
      ),
  });
  const { fields, append, remove } = useFieldArray({ control: form.control, name: "sources" });
  const values = form.watch();

  const choose = (path: FieldPath<SwapValues>, value: string): void =>
    form.setValue(path, value, { shouldDirty: true, shouldTouch: true, shouldValidate: true });
  const chooseAll = (values: readonly (readonly [FieldPath<SwapValues>, string])[]): void => {
    for (const [path, value] of values)
      form.setValue(path, value, { shouldDirty: true, shouldTouch: true });
    void form.trigger(values.map(([path]) => path));
  };
  const choosePlace = (index: number, { address, chainId, token }: HeldPlace): void => {
    const amount = form.getValues(`sources.${index}.amount`);
    chooseAll([
      [`sources.${index}.address`, address],
      [`sources.${index}.chainId`, chainId],
      [`sources.${index}.token`, token],
      // Sets the amount again, so that it is validated. The new token may have fewer decimals.
      ...(amount === "" ? [] : ([[`sources.${index}.amount`, amount]] as const)),
    ]);
  };
  const flip = (amount: string): void => {
    const { sources, toChainId, toToken } = form.getValues();
    const [source] = sources;
    if (source === undefined || sources.length > 1) return;
    form.setValue("toChainId", source.chainId);
    form.setValue("toToken", source.token);
    form.setValue("sources.0", {
      ...source,
      chainId: toChainId,
      token: toToken,
      amount: typedAmount(amount),
    });
    choose("sources.0.amount", typedAmount(amount));
  };
  return {
    form,
    values,
    rows: fields,
    body: toQuoteBody(tokens, values),
    mayAdd: fields.length < SOURCES_MAX,
    addSource: () =>
      append(
        nextSource(setup, form.getValues("sources"), {
          chainId: form.getValues("toChainId"),
          token: form.getValues("toToken"),
        }),
        { shouldFocus: true, focusName: `sources.${fields.length}.amount` },
      ),
    removeSource: (index) => remove(index),
    choose,
    choosePlace,
    chooseTarget: ({ chainId, token }) =>
      chooseAll([
        ["toChainId", chainId],
        ["toToken", token],
      ]),
    flip,
    clearAmounts: () =>
      form
        .getValues("sources")
        .forEach((_, index) => form.setValue(`sources.${index}.amount`, "")),
  };
};

export const swapDraft = tabStore(
  "causeway.swap.draft",
  z.object({
    sources: z
      .array(
        z.object({
          address: z.string(),
          chainId: z.string(),
          token: z.string(),
          amount: z.string(),
        }),
      )
      .min(1)
      .max(SOURCES_MAX),
    toChainId: z.string(),
    toToken: z.string(),
    toAddress: z.string(),
    slippage: z.string(),
  }),
);

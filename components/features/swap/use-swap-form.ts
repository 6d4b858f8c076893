"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useMemo } from "react";
import {
  type FieldPath,
  useFieldArray,
  type UseFieldArrayReturn,
  useForm,
  type UseFormReturn,
} from "react-hook-form";
import { z } from "zod";
import { useKeptValues } from "@/components/features/money-flow/use-kept-values";
import { tabStore } from "@/components/ui/tab-store";
import { SLIPPAGE_BPS_DEFAULT, SOURCES_MAX } from "@/lib/contracts/swap";
import { typedAmount } from "@/lib/core/read-amount";
import { percentText } from "./decimal";
import {
  type SourceValues,
  swapSchema,
  type SwapValues,
  tokenOnChain,
  toQuoteBody,
} from "./form-model";
import { valuesOfLink } from "./swap-link";
import type { QuoteBody } from "./tokens";
import type { SwapSetup } from "./use-swap-setup";

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
  /** Changes a chain, and keeps the asset when the new chain has it. */
  readonly chooseChain: (at: number | "destination", chainId: string) => void;
  /**
   * Swaps source and destination. Only possible with one source.
   *
   * @param amount the new amount to send, a decimal string or empty
   */
  readonly flip: (amount: string) => void;
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

/** The state of the swap form. It survives a reload of the tab. */
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
  useKeptValues({
    form,
    linked: (search) => valuesOfLink(setup, search, form.getValues()),
    draft: swapDraft,
    // A draft with other wallets belongs to another person, and so may its recipient.
    isOwn: ({ sources }) =>
      sources.every(({ address }) =>
        setup.wallets.some((wallet) => wallet.address === address),
      ),
  });

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
      append(newSource(setup), {
        shouldFocus: true,
        focusName: `sources.${fields.length}.amount`,
      }),
    removeSource: (index) => remove(index),
    choose,
    chooseChain,
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

"use client";

import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useEffect, useState } from "react";
import { useForm, type Resolver, type UseFormReturn } from "react-hook-form";
import { balanceOf, type SwapSetup } from "@/components/features/swap/use-swap-setup";
import { poolKey, type PoolBalance, type PrivacyWallet, type PrivateBalances } from "../types";
import type { ChosenWallet } from "../use-chosen-wallet";
import { readDraft, saveDraft } from "./draft";
import {
  checkForm,
  type Action,
  type FormCheck,
  type FormErrors,
  type FormSurroundings,
  type FormValues,
} from "./form-model";

const TARGETS = ["address", "wallet"] as const;
const PARSERS = {
  pool: parseAsString.withDefault(""),
  target: parseAsStringLiteral(TARGETS).withDefault("address"),
  toWallet: parseAsString.withDefault(""),
  toPool: parseAsString.withDefault(""),
  slippage: parseAsString.withDefault("0.5"),
};

/** The data that must be loaded before the forms can be drawn. */
export interface PrivateSetup {
  readonly wallets: readonly PrivacyWallet[];
  readonly balances: PrivateBalances;
  readonly chosen: ChosenWallet;
  readonly setup: SwapSetup;
}

export interface PrivateForm {
  readonly action: Action;
  readonly form: UseFormReturn<FormValues>;
  readonly values: FormValues;
  readonly set: (field: keyof FormValues, value: string) => void;
  /** Pools of the chosen wallet: those that the action can use first. */
  readonly pools: readonly PoolBalance[];
  readonly pool: PoolBalance | undefined;
  readonly toPool: PoolBalance | undefined;
  /** The treasury's balance of the pool's token; null while it is not known. */
  readonly treasury: string | null;
  /** The typed amount as the API takes it; null while something is missing or wrong. */
  readonly amount: FormCheck["amount"];
  /** Messages for fields that the person has left or tried to send, from the form's own checks and from the service. */
  readonly errors: FormErrors;
  /** Checks a field that the person has left. */
  readonly check: (field: keyof FormValues) => void;
}

const isZero = (amount: string): boolean => !/[1-9]/.test(amount);

/** Sorts pools that have money for the action before others, because the person most likely means one of them. */
const sorted = (action: Action, pools: readonly PoolBalance[], treasuryOf: (pool: PoolBalance) => string | null) => {
  const has = (pool: PoolBalance): boolean => !isZero(action === "shield" ? (treasuryOf(pool) ?? "0") : pool.spendable);
  return [...pools].sort((one, other) => Number(has(other)) - Number(has(one)));
};

/** Checks what is typed together with what it stands in: pools, balances, the other wallet. */
const resolverOf =
  (action: Action, around: FormSurroundings): Resolver<FormValues> =>
  (values) => {
    const errors = Object.entries(checkForm(action, values, around).errors);
    return errors.length === 0
      ? { values, errors: {} }
      : { values: {}, errors: Object.fromEntries(errors.map(([name, message]) => [name, { type: "check", message }])) };
  };

const messagesOf = (errors: UseFormReturn<FormValues>["formState"]["errors"]): FormErrors =>
  Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, error.message]));

/** The typed state of a private action. Wallet and pools are in the page's address, amount and recipient in a draft of the tab. */
export const usePrivateForm = (action: Action, { wallets, balances, chosen, setup }: PrivateSetup): PrivateForm => {
  const owner = setup.treasury?.id ?? "";
  const [query, setQuery] = useQueryStates(PARSERS, { history: "replace" });
  const [typed, setTyped] = useState(() => readDraft(action, owner) ?? { owner, amount: "", toAddress: "" });
  useEffect(() => saveDraft(action, typed), [action, typed]);

  const treasuryOf = ({ chainId, token }: PoolBalance): string | null =>
    setup.treasury === undefined
      ? null
      : balanceOf(setup.balances, { address: setup.treasury.address, chainId: String(chainId), token: token.address });
  const own = balances.data.filter(({ privacyWalletId }) => privacyWalletId === chosen.walletId);
  const pools = sorted(action, own, treasuryOf);
  const pool = pools.find((each) => poolKey(each) === query.pool) ?? pools[0];
  const others = pools.filter((each) => each !== pool && each.chainId === pool?.chainId);
  const toPool = action === "swap" ? (others.find((each) => poolKey(each) === query.toPool) ?? others[0]) : undefined;
  const otherWallets = wallets.filter(({ privacyWalletId }) => privacyWalletId !== chosen.walletId);
  const toWallet =
    otherWallets.find(({ privacyWalletId }) => privacyWalletId === query.toWallet) ??
    (otherWallets.length === 1 ? otherWallets[0] : undefined);
  const values: FormValues = {
    walletId: chosen.walletId,
    pool: pool === undefined ? "" : poolKey(pool),
    amount: typed.amount,
    target: query.target,
    toAddress: typed.toAddress,
    toWalletId: toWallet?.privacyWalletId ?? "",
    toPool: toPool === undefined ? "" : poolKey(toPool),
    slippage: query.slippage,
  };
  const treasury = pool === undefined ? null : treasuryOf(pool);
  const around = { pool, toPool, treasury };
  // The page's address and the draft hold the values; the form checks them, and knows which of them to speak of.
  const form = useForm<FormValues>({
    resolver: resolverOf(action, around),
    defaultValues: values,
    shouldFocusError: false,
  });
  const { isSubmitted, errors } = form.formState;
  const text = JSON.stringify(values);
  useEffect(() => {
    const wrong = Object.keys(form.formState.errors) as (keyof FormValues)[];
    for (const [name, value] of Object.entries(JSON.parse(text) as FormValues))
      form.setValue(name as keyof FormValues, value as string);
    if (isSubmitted) void form.trigger();
    else if (wrong.length > 0) void form.trigger(wrong);
  }, [text, treasury, isSubmitted]);
  const set = (field: keyof FormValues, value: string): void => {
    // From the first input on the pools stay, also when fresh balances would sort them in another order.
    const pins = {
      ...(query.pool === "" && values.pool !== "" ? { pool: values.pool } : {}),
      ...(query.toPool === "" && values.toPool !== "" ? { toPool: values.toPool } : {}),
    };
    if (Object.keys(pins).length > 0) void setQuery(pins);
    if (field === "amount" || field === "toAddress") setTyped((before) => ({ ...before, [field]: value }));
    else if (field === "walletId") chosen.choose(value);
    else if (field === "toWalletId") void setQuery({ toWallet: value });
    else void setQuery({ [field]: value });
  };
  return {
    action,
    form,
    values,
    set,
    pools,
    pool,
    toPool,
    treasury,
    errors: messagesOf(errors),
    check: (field) => void form.trigger(field),
    amount: checkForm(action, values, around).amount,
  };
};

"use client";

import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useEffect, useState } from "react";
import { balanceOf, type SwapSetup } from "@/components/features/swap/use-swap-setup";
import { poolKey, type PoolBalance, type PrivacyWallet, type PrivateBalances } from "../types";
import { useChosenWallet } from "../use-chosen-wallet";
import { readDraft, saveDraft } from "./draft";
import { checkForm, type Action, type FormCheck, type FormErrors, type FormValues } from "./form-model";

const TARGETS = ["address", "wallet"] as const;
const PARSERS = {
  pool: parseAsString.withDefault(""),
  target: parseAsStringLiteral(TARGETS).withDefault("address"),
  toWallet: parseAsString.withDefault(""),
  toPool: parseAsString.withDefault(""),
  slippage: parseAsString.withDefault("0.5"),
};

/** What the forms need before they can be drawn. */
export interface PrivateSetup {
  readonly wallets: readonly PrivacyWallet[];
  readonly balances: PrivateBalances;
  readonly setup: SwapSetup;
}

export interface PrivateForm {
  readonly action: Action;
  readonly values: FormValues;
  readonly set: (field: keyof FormValues, value: string) => void;
  /** Pools of the chosen wallet: those that the action can use first. */
  readonly pools: readonly PoolBalance[];
  readonly pool: PoolBalance | undefined;
  readonly toPool: PoolBalance | undefined;
  /** What the treasury has of the pool's token; null while that is not known. */
  readonly treasury: string | null;
  readonly check: FormCheck;
  /** What is wrong with what the person has left or tried to send. */
  readonly shown: FormErrors;
  readonly touch: (field: keyof FormValues) => void;
  readonly tryAll: () => void;
}

const isZero = (amount: string): boolean => !/[1-9]/.test(amount);

/** What a person most likely means: a pool that has money for it, before others. */
const sorted = (action: Action, pools: readonly PoolBalance[], treasuryOf: (pool: PoolBalance) => string | null) => {
  const has = (pool: PoolBalance): boolean => !isZero(action === "shield" ? (treasuryOf(pool) ?? "0") : pool.spendable);
  return [...pools].sort((one, other) => Number(has(other)) - Number(has(one)));
};

/** The typed state of a private action. Wallet and pools are in the page's address, amount and recipient in a draft of the tab. */
export const usePrivateForm = (action: Action, { wallets, balances, setup }: PrivateSetup): PrivateForm => {
  const owner = setup.treasury?.id ?? "";
  const [query, setQuery] = useQueryStates(PARSERS, { history: "replace" });
  const chosen = useChosenWallet(wallets);
  const [typed, setTyped] = useState(() => readDraft(action, owner) ?? { owner, amount: "", toAddress: "" });
  const [touched, setTouched] = useState<ReadonlySet<keyof FormValues>>(new Set());
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
  const check = checkForm(action, values, { pool, toPool, treasury });
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
    values,
    set,
    pools,
    pool,
    toPool,
    treasury,
    check,
    shown: Object.fromEntries(Object.entries(check.errors).filter(([field]) => touched.has(field as keyof FormValues))),
    touch: (field) => setTouched((before) => new Set([...before, field])),
    tryAll: () => setTouched(new Set(Object.keys(values) as (keyof FormValues)[])),
  };
};

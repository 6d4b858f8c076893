"use client";

import { useRouter } from "next/navigation";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useEffect, useState } from "react";
import { type Resolver, useForm, type UseFormReturn } from "react-hook-form";
import { z } from "zod";
import { codeOf, extraOf } from "@/components/features/money-flow/api-error";
import { useSentOnce } from "@/components/features/session/use-api";
import { isZero } from "@/components/features/swap/decimal";
import { balanceOf, type SwapSetup } from "@/components/features/swap/use-swap-setup";
import { tabStore } from "@/components/ui/tab-store";
import { privateTransfer, shield, unshield } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import {
  type PoolBalance,
  poolKey,
  type PrivacyWallet,
  type PrivateBalances,
  type PrivateTransfer,
} from "../parts";
import type { ChosenWallet } from "../use-chosen-wallet";
import { pathOfTransfer, useTakeOver } from "../use-private";
import {
  type Action,
  checkForm,
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

/** The data that must be loaded before the forms can be rendered. */
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
  /** Pools of the chosen wallet. The pools that have money for the action come first. */
  readonly pools: readonly PoolBalance[];
  readonly pool: PoolBalance | undefined;
  readonly toPool: PoolBalance | undefined;
  /** The treasury's balance of the pool's token; null while it is unknown. */
  readonly treasury: string | null;
  /** The amount in the format of the API; null while a value is missing or wrong. */
  readonly amount: FormCheck["amount"];
  /**
   * Errors of fields that the person has left or submitted, found by the form or by the service.
   */
  readonly errors: FormErrors;
  /** Checks a field when the person leaves it. */
  readonly check: (field: keyof FormValues) => void;
}

/**
 * Sorts pools that have money for the action before others, because the person most likely means
 * one of them.
 */
const sorted = (
  action: Action,
  pools: readonly PoolBalance[],
  treasuryOf: (pool: PoolBalance) => string | null,
) => {
  const has = (pool: PoolBalance): boolean =>
    !isZero(action === "shield" ? (treasuryOf(pool) ?? "0") : pool.spendable);
  return [...pools].sort((one, other) => Number(has(other)) - Number(has(one)));
};

const resolverOf =
  (action: Action, around: FormSurroundings): Resolver<FormValues> =>
  (values) => {
    const messages = Object.entries(checkForm(action, values, around).errors);
    if (messages.length === 0) return { values, errors: {} };
    const errors = Object.fromEntries(
      messages.map(([name, message]) => [name, { type: "check", message }]),
    );
    return { values: {}, errors };
  };

const messagesOf = (errors: UseFormReturn<FormValues>["formState"]["errors"]): FormErrors =>
  Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, error.message]));

/**
 * The state of a private action's form. Wallet and pools are stored in the page's address, amount
 * and recipient in a draft of the tab.
 */
export const usePrivateForm = (
  action: Action,
  { wallets, balances, chosen, setup }: PrivateSetup,
): PrivateForm => {
  const owner = setup.treasury?.id ?? "";
  const [query, setQuery] = useQueryStates(PARSERS, { history: "replace" });
  const [typed, setTyped] = useState(() => {
    const kept = draftOf(action).read();
    return kept?.owner === owner ? kept : { owner, amount: "", toAddress: "" };
  });
  useEffect(() => draftOf(action).save(typed), [action, typed]);

  const treasuryOf = ({ chainId, token }: PoolBalance): string | null =>
    setup.treasury === undefined
      ? null
      : balanceOf(setup.balances, {
          address: setup.treasury.address,
          chainId: String(chainId),
          token: token.address,
        });
  const walletPools = balances.data.filter(
    ({ privacyWalletId }) => privacyWalletId === chosen.walletId,
  );
  const pools = sorted(action, walletPools, treasuryOf);
  const pool = pools.find((each) => poolKey(each) === query.pool) ?? pools[0];
  const others = pools.filter((each) => each !== pool && each.chainId === pool?.chainId);
  const toPool =
    action === "swap"
      ? (others.find((each) => poolKey(each) === query.toPool) ?? others[0])
      : undefined;
  const otherWallets = wallets.filter(({ id }) => id !== chosen.walletId);
  const onlyOther = otherWallets.length === 1 ? otherWallets[0] : undefined;
  const toWallet = otherWallets.find(({ id }) => id === query.toWallet) ?? onlyOther;
  const values: FormValues = {
    walletId: chosen.walletId,
    pool: pool === undefined ? "" : poolKey(pool),
    amount: typed.amount,
    target: query.target,
    toAddress: typed.toAddress,
    toWalletId: toWallet?.id ?? "",
    toPool: toPool === undefined ? "" : poolKey(toPool),
    slippage: query.slippage,
  };
  const treasury = pool === undefined ? null : treasuryOf(pool);
  const around = { pool, toPool, treasury };
  // The values are stored in the page's address and the draft. The form only validates them, and
  // knows which fields the person has left.
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
    // The first input writes the shown pools into the address, because fresh balances may change
    // their order.
    if (query.pool === "" && values.pool !== "") void setQuery({ pool: values.pool });
    if (query.toPool === "" && values.toPool !== "") void setQuery({ toPool: values.toPool });
    if (field === "amount" || field === "toAddress")
      setTyped((before) => ({ ...before, [field]: value }));
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

/**
 * Values that this tab keeps over a reload. Amount and recipient are not in the page's address,
 * because addresses appear in the browser's history and in access logs.
 */
export const draftOf = (action: Action) =>
  tabStore(
    `causeway.private.draft.${action}`,
    z.object({
      /**
       * Id of the project's treasury. A draft with another id belongs to another project and is
       * ignored.
       */
      owner: z.string(),
      amount: z.string(),
      toAddress: z.string(),
    }),
  );

export type MoveRequest =
  | { readonly action: "shield"; readonly body: BodyInput<typeof shield> }
  | { readonly action: "transfer"; readonly body: BodyInput<typeof privateTransfer> }
  | { readonly action: "unshield"; readonly body: BodyInput<typeof unshield> };

export interface CreateMove {
  readonly create: (request: MoveRequest) => Promise<void>;
  readonly pending: boolean;
  readonly error: unknown;
  /**
   * Size of the anonymity set when it is so small that the service asks for a second confirmation;
   * null otherwise.
   */
  readonly smallSet: number | null;
  readonly refuseSmallSet: () => void;
  readonly reset: () => void;
}

const sizeOf = (error: unknown): number | null => {
  if (codeOf(error) !== "small_anonymity_set") return null;
  const size = extraOf(error, "anonymitySet");
  return typeof size === "number" ? size : 0;
};

/** Creates the operation, and opens its page for approval. */
export const useCreateMove = (): CreateMove => {
  const router = useRouter();
  const takeOver = useTakeOver();
  const shields = useSentOnce(shield);
  const transfers = useSentOnce(privateTransfer);
  const unshields = useSentOnce(unshield);
  const [error, setError] = useState<unknown>(null);
  const [smallSet, setSmallSet] = useState<number | null>(null);
  const send = (request: MoveRequest): Promise<PrivateTransfer> => {
    switch (request.action) {
      case "shield":
        return shields.send({ body: request.body });
      case "transfer":
        return transfers.send({ body: request.body });
      case "unshield":
        return unshields.send({ body: request.body });
    }
  };
  const create = async (request: MoveRequest): Promise<void> => {
    setError(null);
    setSmallSet(null);
    try {
      const transfer = await send(request);
      draftOf(request.action).drop();
      takeOver(transfer);
      router.push(`${pathOfTransfer(transfer)}?approve=true`);
    } catch (failure) {
      const size = sizeOf(failure);
      if (size === null) setError(failure);
      else setSmallSet(size);
    }
  };
  return {
    create,
    pending: [shields, transfers, unshields].some(({ mutation }) => mutation.isPending),
    error,
    smallSet,
    refuseSmallSet: () => setSmallSet(null),
    reset: () => setError(null),
  };
};

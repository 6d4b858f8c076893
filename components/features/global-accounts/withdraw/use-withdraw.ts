"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useRouter } from "next/navigation";
import { useEffect, useMemo, useState } from "react";
import { useForm, type UseFormReturn } from "react-hook-form";
import type { Spendable } from "@/components/features/money-flow/spendable";
import { type TokenInfo, assetsOf } from "@/components/features/swap/tokens";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { pathOfPayout } from "@/components/features/payouts/payout";
import { useCache, useSentOnce } from "@/components/features/session/use-api";
import { richestChain, tokenOf } from "@/components/features/transfer/form-model";
import {
  chainIdOf,
  type Recipient,
  useRecipient,
} from "@/components/features/transfer/recipient-field";
import { ApiError } from "@/lib/api-client/client";
import { createWalletsPayout, listPayouts } from "@/lib/contracts/payouts";
import { type Account, accountQuery } from "../account";
import {
  fieldMessagesOf,
  shortReason,
  toWithdrawBody,
  treasuryHas,
  withdrawable,
  withdrawSchema,
  type WithdrawBody,
  type WithdrawValues,
} from "./withdraw-model";

export interface Withdrawing {
  readonly form: UseFormReturn<WithdrawValues>;
  readonly values: WithdrawValues;
  readonly token: TokenInfo | undefined;
  readonly chainIds: readonly string[];
  /**
   * Returns the amount that a withdrawal may take from the treasury on a chain; null when unknown.
   */
  readonly held: (chainId: string) => string | null;
  readonly spendable: Spendable;
  readonly recipient: Recipient;
  readonly body: WithdrawBody | null;
  readonly obstacle: string | null;
  readonly serverErrors: ReturnType<typeof fieldMessagesOf>;
  /** The service's error; null when a field already shows it. */
  readonly error: Error | null;
  readonly pending: boolean;
  readonly choose: (field: keyof WithdrawValues, value: string) => void;
  /**
   * Creates the withdrawal, which waits for its approval, and opens its review. `again` confirms
   * that the withdrawal repeats a payment of the last 30 days.
   */
  readonly review: (again?: boolean) => Promise<void>;
}

/** The form of a withdrawal from an account, and its submission. */
export const useWithdraw = (account: Account, setup: SwapSetup): Withdrawing => {
  const { tokens } = setup;
  const { assetId } = account;
  const chainIds = assetsOf(tokens).find((one) => one.assetId === assetId)?.chainIds ?? [];
  const held = (chainId: string): string | null => treasuryHas(setup, assetId, chainId);
  const resolver = useMemo(
    () => zodResolver(withdrawSchema(tokens, assetId)),
    [tokens, assetId],
  );
  const form = useForm<WithdrawValues>({
    resolver,
    mode: "onTouched",
    defaultValues: {
      chainId: richestChain(chainIds, held),
      amount: "",
      toAddress: "",
      reference: "",
    },
  });
  const values = form.watch();
  const areBalancesKnown = setup.balances !== undefined;
  // Balances may load after the page. Then the chain with the highest balance is selected, unless
  // the person has chosen one.
  useEffect(() => {
    if (form.getFieldState("chainId").isTouched) return;
    form.setValue("chainId", richestChain(chainIds, held));
  }, [areBalancesKnown]);
  const recipient = useRecipient(values.toAddress, chainIdOf(values.chainId));
  const router = useRouter();
  const cache = useCache();
  const [isLeaving, setLeaving] = useState(false);
  const { mutation, send } = useSentOnce(createWalletsPayout);
  const body = toWithdrawBody(tokens, account, values);
  const short = shortReason(account, held(values.chainId), values.amount);
  const serverErrors = fieldMessagesOf(
    mutation.error instanceof ApiError ? mutation.error.details : [],
  );
  const review = async (again = false): Promise<void> => {
    if (body === null) return;
    const request = again ? { ...body, allowDuplicates: true } : body;
    const payout = await send({ body: request }).catch(() => null);
    if (payout === null || payout.payoutId === null) return;
    setLeaving(true);
    void cache.refresh(listPayouts, accountQuery(account.id));
    router.push(pathOfPayout({ ...payout, payoutId: payout.payoutId }));
  };
  return {
    form,
    values,
    chainIds,
    held,
    recipient,
    body,
    serverErrors,
    review,
    token: tokenOf(tokens, assetId, values.chainId),
    spendable: withdrawable(account, held(values.chainId)),
    obstacle: short ?? (body === null ? "Complete the form." : recipient.obstacle),
    error: Object.keys(serverErrors).length > 0 ? null : mutation.error,
    pending: mutation.isPending || isLeaving,
    choose: (field, value) => {
      mutation.reset();
      form.setValue(field, value, {
        shouldDirty: true,
        shouldTouch: true,
        shouldValidate: true,
      });
    },
  };
};

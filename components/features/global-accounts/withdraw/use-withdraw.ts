"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useEffect, useMemo, useState } from "react";
import { useForm, type UseFormReturn } from "react-hook-form";
import type { Spendable } from "@/components/features/money-flow/spendable";
import { type TokenInfo, assetsOf } from "@/components/features/swap/tokens";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { useApiMutation } from "@/components/features/session/use-api";
import { richestChain, tokenOf } from "@/components/features/transfer/form-model";
import {
  chainIdOf,
  type Recipient,
  useRecipient,
} from "@/components/features/transfer/recipient-field";
import { ApiError } from "@/lib/api-client/client";
import type { ResponseOf } from "@/lib/contracts/contract";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import type { Account } from "../account";
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

export type WithdrawAnswer = ResponseOf<typeof createWalletsPayout>;

export interface CheckedWithdrawal {
  readonly body: WithdrawBody;
  readonly answer: WithdrawAnswer;
}

export interface Withdrawing {
  readonly form: UseFormReturn<WithdrawValues>;
  readonly values: WithdrawValues;
  readonly token: TokenInfo | undefined;
  readonly chainIds: readonly string[];
  /** The treasury's balance on a chain; null when unknown. */
  readonly held: (chainId: string) => string | null;
  readonly spendable: Spendable;
  readonly recipient: Recipient;
  readonly body: WithdrawBody | null;
  readonly obstacle: string | null;
  readonly serverErrors: ReturnType<typeof fieldMessagesOf>;
  /** The service's refusal, unless a field already shows it. */
  readonly error: Error | null;
  readonly checking: boolean;
  readonly checked: CheckedWithdrawal | null;
  readonly choose: (field: keyof WithdrawValues, value: string) => void;
  /**
   * Lets the service check the withdrawal. `again` accepts that it repeats a payment of the last 30
   * days.
   */
  readonly check: (again?: boolean) => Promise<void>;
  readonly back: () => void;
}

/** The service checks a withdrawal before it is created, and stores nothing for the check. */
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
  const [checked, setChecked] = useState<CheckedWithdrawal | null>(null);
  const validation = useApiMutation(createWalletsPayout);
  const body = toWithdrawBody(tokens, account, values);
  const short = shortReason(account, held(values.chainId), values.amount);
  const serverErrors = fieldMessagesOf(
    validation.error instanceof ApiError ? validation.error.details : [],
  );
  const check = async (again = false): Promise<void> => {
    if (body === null) return;
    const request = again ? { ...body, allowDuplicates: true } : body;
    const answer = await validation
      .mutateAsync({ body: { ...request, validateOnly: true } })
      .catch(() => null);
    if (answer !== null) setChecked({ body: request, answer });
  };
  return {
    form,
    values,
    chainIds,
    held,
    recipient,
    body,
    serverErrors,
    checked,
    check,
    token: tokenOf(tokens, assetId, values.chainId),
    spendable: withdrawable(account, held(values.chainId)),
    obstacle: short ?? (body === null ? "Complete the form." : recipient.obstacle),
    error: Object.keys(serverErrors).length > 0 ? null : validation.error,
    checking: validation.isPending,
    choose: (field, value) => {
      validation.reset();
      form.setValue(field, value, {
        shouldDirty: true,
        shouldTouch: true,
        shouldValidate: true,
      });
    },
    back: () => setChecked(null),
  };
};

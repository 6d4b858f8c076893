"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useEffect, useMemo, useState } from "react";
import { useForm, type UseFormReturn } from "react-hook-form";
import type { Spendable } from "@/components/features/money-flow/spendable";
import { compareAmounts } from "@/components/features/swap/decimal";
import type { TokenInfo } from "@/components/features/swap/types";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { useApiMutation } from "@/components/features/session/use-api";
import { assetsOf, tokenOf } from "@/components/features/transfer/form-model";
import { useRecipient, type Recipient } from "@/components/features/transfer/use-recipient";
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

/** A withdrawal that the service found right: its body, and the answer to it. */
export interface CheckedWithdrawal {
  readonly body: WithdrawBody;
  readonly answer: WithdrawAnswer;
}

export interface Withdrawing {
  readonly form: UseFormReturn<WithdrawValues>;
  readonly values: WithdrawValues;
  readonly token: TokenInfo | undefined;
  /** Chains on which the asset is. */
  readonly chainIds: readonly string[];
  /** The treasury's balance on a chain; null while it is not known. */
  readonly held: (chainId: string) => string | null;
  readonly spendable: Spendable;
  readonly recipient: Recipient;
  readonly body: WithdrawBody | null;
  /** Why it cannot be reviewed; null when nothing stands in the way. */
  readonly obstacle: string | null;
  readonly serverErrors: ReturnType<typeof fieldMessagesOf>;
  /** The service's refusal, where no field says it. */
  readonly error: Error | null;
  readonly checking: boolean;
  readonly checked: CheckedWithdrawal | null;
  readonly choose: (field: keyof WithdrawValues, value: string) => void;
  /** With `again`, also a payment that repeats one of the last 30 days. */
  readonly check: (again?: boolean) => Promise<void>;
  readonly back: () => void;
}

/** Where the treasury holds most of the asset. */
const richest = (chainIds: readonly string[], held: (chainId: string) => string | null): string =>
  chainIds.reduce(
    (best, chainId) => (compareAmounts(held(chainId) ?? "0", held(best) ?? "0") === 1 ? chainId : best),
    chainIds[0] ?? "",
  );

/** The typed state of a withdrawal, and its check by the service, which stores nothing. */
export const useWithdraw = (account: Account, setup: SwapSetup): Withdrawing => {
  const { tokens } = setup;
  const { assetId } = account;
  const chainIds = assetsOf(tokens).find((one) => one.assetId === assetId)?.chainIds ?? [];
  const held = (chainId: string): string | null => treasuryHas(setup, assetId, chainId);
  const resolver = useMemo(() => zodResolver(withdrawSchema(tokens, assetId)), [tokens, assetId]);
  const form = useForm<WithdrawValues>({
    resolver,
    mode: "onTouched",
    defaultValues: { chainId: richest(chainIds, held), amount: "", toAddress: "", reference: "" },
  });
  const values = form.watch();
  const areBalancesKnown = setup.balances !== undefined;
  // Balances may be read later than the page; a chain that a person chose stays.
  useEffect(() => {
    if (form.getFieldState("chainId").isTouched) return;
    form.setValue("chainId", richest(chainIds, held));
  }, [areBalancesKnown]);
  const recipient = useRecipient(values.toAddress);
  const [checked, setChecked] = useState<CheckedWithdrawal | null>(null);
  const asking = useApiMutation(createWalletsPayout);
  const body = toWithdrawBody(tokens, account, values);
  const short = shortReason(account, held(values.chainId), values.amount);
  const serverErrors = fieldMessagesOf(asking.error instanceof ApiError ? asking.error.details : []);
  const check = async (again = false): Promise<void> => {
    if (body === null) return;
    const asked = again ? { ...body, allowDuplicates: true } : body;
    const answer = await asking.mutateAsync({ body: { ...asked, validateOnly: true } }).catch(() => null);
    if (answer !== null) setChecked({ body: asked, answer });
  };
  return {
    ...{ form, values, chainIds, held, recipient, body, serverErrors, checked, check },
    token: tokenOf(tokens, assetId, values.chainId),
    spendable: withdrawable(account, held(values.chainId)),
    obstacle: short ?? (body === null ? "Complete the form." : recipient.obstacle),
    error: Object.keys(serverErrors).length > 0 ? null : asking.error,
    checking: asking.isPending,
    choose: (field, value) => {
      asking.reset();
      form.setValue(field, value, { shouldDirty: true, shouldTouch: true, shouldValidate: true });
    },
    back: () => setChecked(null),
  };
};

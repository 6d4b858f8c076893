"use client";

import { useMutation, useQueryClient, type UseMutationResult } from "@tanstack/react-query";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { useHideableText } from "@/components/ui/hideable-text";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { getUnifiedBalances, useFaucet as faucetContract } from "@/lib/api-client/calls.gen";

export interface Funding {
  readonly chainId: number;
  readonly token: string;
  /** Decimal string in units of the token. */
  readonly amount: string;
}

interface Receiver {
  readonly address: string;
  readonly name: string;
}

/** Gives test tokens to a wallet, the treasury where none is named; only where the chains are local. */
export const useFund = (
  wallet?: Receiver,
): UseMutationResult<unknown, Error, Funding> & { readonly ready: boolean } => {
  const api = useApi();
  const queryClient = useQueryClient();
  const treasury = useTreasury();
  const hideable = useHideableText();
  const receiver = wallet ?? (treasury === undefined ? undefined : { address: treasury.address, name: "the treasury" });
  const mutation = useMutation({
    mutationFn: async (funding: Funding) => {
      if (receiver === undefined) throw new Error("The treasury is not known yet.");
      return api.call(faucetContract, { body: { address: receiver.address, ...funding } });
    },
    onSuccess: async (_answer, { amount, token }) => {
      toast.success(hideable(`${amount} ${token} went to ${receiver?.name ?? "the wallet"}.`));
      await queryClient.invalidateQueries({ queryKey: queryKeyOf(getUnifiedBalances) });
    },
  });
  return { ...mutation, ready: receiver !== undefined };
};

"use client";

import { useMutation, useQueryClient, type UseMutationResult } from "@tanstack/react-query";
import { toast } from "sonner";
import { queryKeyOf, useApi } from "@/components/features/session/use-api";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { useFaucet as faucetContract } from "@/lib/contracts/dev";

export interface Funding {
  readonly chainId: number;
  readonly token: string;
  /** Decimal string in units of the token. */
  readonly amount: string;
}

/** Gives test tokens to the treasury; only where the chains are local. */
export const useFund = (): UseMutationResult<unknown, Error, Funding> & { readonly ready: boolean } => {
  const api = useApi();
  const queryClient = useQueryClient();
  const treasury = useTreasury();
  const mutation = useMutation({
    mutationFn: async (funding: Funding) => {
      if (treasury === undefined) throw new Error("The treasury is not known yet.");
      return api.call(faucetContract, { body: { address: treasury.address, ...funding } });
    },
    onSuccess: async (_answer, { amount, token }) => {
      toast.success(`${amount} ${token} went to the treasury.`);
      await queryClient.invalidateQueries({ queryKey: queryKeyOf(getUnifiedBalances) });
    },
  });
  return { ...mutation, ready: treasury !== undefined };
};

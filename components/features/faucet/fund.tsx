"use client";

import { useMutation, type UseMutationResult } from "@tanstack/react-query";
import { Droplets } from "lucide-react";
import type { ReactNode } from "react";
import { useApi, useCache } from "@/components/features/session/use-api";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { toast } from "@/components/ui/toast";
import { getUnifiedBalances, useFaucet as faucetContract } from "@/lib/api-client/calls.gen";

const GIFT = { token: "USDC", amount: "1000" } as const;

export const FundButtons = (): ReactNode => {
  const { chains } = usePublicConfig();
  const { mutate, isPending, variables, ready } = useFund();
  return chains.map((chain) => (
    <Button
      key={chain.id}
      size="sm"
      disabled={!ready || isPending}
      loading={isPending && variables.chainId === chain.id}
      onClick={() =>
        mutate(
          { chainId: chain.id, ...GIFT },
          { onError: (error) => toast.error(describeError(error).message) },
        )
      }
    >
      <Droplets aria-hidden /> 1,000 USDC on {chain.name}
    </Button>
  ));
};

interface Funding {
  readonly chainId: number;
  readonly token: string;
  /** Decimal string in units of the token. */
  readonly amount: string;
}

interface Receiver {
  readonly address: string;
  readonly name: string;
}

/** Sends test tokens to a wallet, by default the treasury. Works only on local chains. */
export const useFund = (
  wallet?: Receiver,
): UseMutationResult<unknown, Error, Funding> & { readonly ready: boolean } => {
  const api = useApi();
  const cache = useCache();
  const treasury = useTreasury();
  const hideable = useHideableText();
  const receiver =
    wallet ??
    (treasury === undefined ? undefined : { address: treasury.address, name: "the treasury" });
  const mutation = useMutation({
    mutationFn: async (funding: Funding) => {
      if (receiver === undefined) throw new Error("The treasury is not known yet.");
      return api.call(faucetContract, { body: { address: receiver.address, ...funding } });
    },
    onSuccess: async (_answer, { amount, token }) => {
      toast.success(hideable(`${amount} ${token} went to ${receiver?.name ?? "the wallet"}.`));
      await cache.refresh(getUnifiedBalances);
    },
  });
  return { ...mutation, ready: receiver !== undefined };
};

"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Droplets } from "lucide-react";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { useFund } from "@/components/features/faucet/use-fund";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { ChainName } from "@/components/ui/chain-name";
import { describeError } from "@/components/ui/describe-error";
import { getReserves } from "@/lib/api-client/calls.gen";
import type { Account } from "./account";
import { useCurrencies } from "./use-currencies";

const GIFT = "1000";

/** Shows the treasury's addresses; on local chains also buttons that give it test tokens. */
export const FundTreasury = ({ account }: { readonly account: Account }): ReactNode => {
  const treasury = useTreasury();
  const { devnet } = usePublicConfig();
  if (treasury === undefined) return null;
  return (
    <div className="flex flex-col gap-2">
      <span className="flex flex-wrap items-center gap-x-2">
        Treasury <Address value={treasury.address} full />
      </span>
      {devnet ? <Gifts account={account} /> : null}
    </div>
  );
};

const Gifts = ({ account }: { readonly account: Account }): ReactNode => {
  const queryClient = useQueryClient();
  const { mutate, isPending, variables, ready } = useFund();
  const tokens = useCurrencies()?.find(({ assetId }) => assetId === account.assetId)?.tokens ?? [];
  return (
    <div className="flex flex-wrap gap-2">
      {tokens.map(({ chainId, symbol }) => (
        <Button
          key={chainId}
          size="sm"
          disabled={!ready || isPending}
          loading={isPending && variables.chainId === chainId}
          onClick={() =>
            mutate(
              { chainId, token: symbol, amount: GIFT },
              {
                onSuccess: () => void queryClient.invalidateQueries({ queryKey: queryKeyOf(getReserves) }),
                onError: (error) => toast.error(describeError(error).message),
              },
            )
          }
        >
          <Droplets aria-hidden /> 1,000 {symbol} on <ChainName chainId={chainId} />
        </Button>
      ))}
    </div>
  );
};

"use client";

import { Droplets } from "lucide-react";
import type { ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { DropdownMenu, MenuItem } from "@/components/ui/dropdown-menu";
import { toast } from "@/components/ui/toast";
import { useFund } from "./fund";

/**
 * The test tokens that the menu offers. Wallets that send their own transactions need the native
 * coin for the network fees.
 */
const GIFTS = [
  { token: "USDC", amount: "1000", words: "1,000 USDC" },
  { token: "USDT", amount: "1000", words: "1,000 USDT" },
  { token: "native", amount: "1", words: null },
] as const;

interface FundMenuProps {
  readonly address: string;
  readonly name: string;
}

export const FundMenu = ({ address, name }: FundMenuProps): ReactNode => {
  const { chains } = usePublicConfig();
  const { mutate, isPending } = useFund({ address, name });
  return (
    <DropdownMenu
      trigger={
        <Button
          size="sm"
          variant="ghost"
          loading={isPending}
          aria-label={`Get test tokens for ${name}`}
        >
          {isPending ? null : <Droplets aria-hidden />} Test tokens
        </Button>
      }
    >
      {GIFTS.flatMap(({ token, amount, words }) =>
        chains.map((chain) => (
          <MenuItem
            key={`${token}-${String(chain.id)}`}
            onSelect={() =>
              mutate(
                { chainId: chain.id, token, amount },
                { onError: (error) => toast.error(describeError(error).message) },
              )
            }
          >
            {words ?? `${amount} ${chain.nativeCurrency.symbol}`} on {chain.name}
          </MenuItem>
        )),
      )}
    </DropdownMenu>
  );
};

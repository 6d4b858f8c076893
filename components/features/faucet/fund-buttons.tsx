"use client";

import { Droplets } from "lucide-react";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { useFund } from "./use-fund";

const GIFT = { token: "USDC", amount: "1000" } as const;

/** One click per local chain. */
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
        mutate({ chainId: chain.id, ...GIFT }, { onError: (error) => toast.error(describeError(error).message) })
      }
    >
      <Droplets aria-hidden /> 1,000 USDC on {chain.name}
    </Button>
  ));
};

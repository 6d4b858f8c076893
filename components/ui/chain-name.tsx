"use client";

import type { ReactNode } from "react";
import { useChain } from "@/components/providers/public-config";
import { ChainMark } from "./marks";

/** The name of a chain with its mark; its id where the configuration no longer has it. */
export const ChainName = ({ chainId }: { readonly chainId: number }): ReactNode => {
  const chain = useChain(chainId);
  const name = chain?.name ?? `Chain ${chainId}`;
  return (
    <span title={`Chain id ${chainId}`} className="whitespace-nowrap">
      <ChainMark name={name} className="mr-1" />
      {name}
    </span>
  );
};

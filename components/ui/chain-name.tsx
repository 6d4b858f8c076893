"use client";

import type { ReactNode } from "react";
import { useChain } from "@/components/providers/public-config";

/** The name of a chain, or `Chain 31337` when the configuration does not have the chain any more. */
export const ChainName = ({ chainId }: { readonly chainId: number }): ReactNode => {
  const chain = useChain(chainId);
  return <span title={`Chain id ${chainId}`}>{chain?.name ?? `Chain ${chainId}`}</span>;
};

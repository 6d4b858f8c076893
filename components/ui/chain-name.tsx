"use client";

import type { ReactNode } from "react";
import { useChain } from "@/components/providers/public-config";

/** The name of a chain; its id where the configuration no longer has it. */
export const ChainName = ({ chainId }: { readonly chainId: number }): ReactNode => {
  const chain = useChain(chainId);
  return <span title={`Chain id ${chainId}`}>{chain?.name ?? `Chain ${chainId}`}</span>;
};

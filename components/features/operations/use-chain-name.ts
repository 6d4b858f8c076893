"use client";

import { usePublicConfig } from "@/components/providers/public-config";
import type { ChainNameOf } from "./types";

/** Names of chains as plain text, for sentences. */
export const useChainName = (): ChainNameOf => {
  const { chains } = usePublicConfig();
  return (chainId) => chains.find((chain) => chain.id === chainId)?.name ?? `chain ${chainId}`;
};

"use client";

import { createContext, type ReactNode, useContext } from "react";
import type { ChainNameOf } from "@/components/features/operations/operation";
import type { PublicChain, PublicConfig } from "@/lib/http/public-config";

const PublicConfigContext = createContext<PublicConfig | null>(null);

interface ProviderProps {
  readonly config: PublicConfig;
  readonly children: ReactNode;
}

export const PublicConfigProvider = ({ config, children }: ProviderProps): ReactNode => (
  <PublicConfigContext.Provider value={config}>{children}</PublicConfigContext.Provider>
);

/** The public configuration that the root layout provides: chains, environment and switches. */
export const usePublicConfig = (): PublicConfig => {
  const config = useContext(PublicConfigContext);
  if (config === null)
    throw new Error("usePublicConfig needs the PublicConfigProvider of the root layout.");
  return config;
};

/**
 * A configured chain. Undefined for a chain that is no longer configured, because old records can
 * name one.
 */
export const useChain = (chainId: number): PublicChain | undefined =>
  usePublicConfig().chains.find((chain) => chain.id === chainId);

export const useChainName = (): ChainNameOf => {
  const { chains } = usePublicConfig();
  return (chainId) => chains.find((chain) => chain.id === chainId)?.name ?? `chain ${chainId}`;
};

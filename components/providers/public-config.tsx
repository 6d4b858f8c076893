"use client";

import { createContext, useContext, type ReactNode } from "react";
import type { PublicChain, PublicConfig } from "@/lib/http/public-config";

const PublicConfigContext = createContext<PublicConfig | null>(null);

interface ProviderProps {
  readonly config: PublicConfig;
  readonly children: ReactNode;
}

export const PublicConfigProvider = ({ config, children }: ProviderProps): ReactNode => (
  <PublicConfigContext.Provider value={config}>{children}</PublicConfigContext.Provider>
);

/** Chains, environment and what else the root layout passed down. */
export const usePublicConfig = (): PublicConfig => {
  const config = useContext(PublicConfigContext);
  if (config === null) throw new Error("usePublicConfig needs the PublicConfigProvider of the root layout.");
  return config;
};

/** A chain of the configuration; undefined where a record names one that is no longer configured. */
export const useChain = (chainId: number): PublicChain | undefined =>
  usePublicConfig().chains.find((chain) => chain.id === chainId);

import { getServices } from "@/lib/composition";

export interface PublicChain {
  readonly id: number;
  readonly name: string;
  readonly testnet: boolean;
  readonly rpcUrl: string;
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  readonly explorerUrl: string | null;
  readonly multicall3: `0x${string}`;
}

/** What every browser may know; nothing secret is ever added here. */
export interface PublicConfig {
  readonly env: "development" | "production";
  /** Local chains: the faucet, the burner wallet and the development inbox are there. */
  readonly devnet: boolean;
  readonly walletConnectProjectId: string | null;
  readonly chains: readonly PublicChain[];
}

/** Read per request, so that one build serves every configuration. */
export const getPublicConfig = (): PublicConfig => {
  const { config } = getServices();
  return {
    env: config.env,
    devnet: config.devnet,
    walletConnectProjectId: config.walletConnectProjectId,
    chains: config.chains.flatMap((chain) => {
      const rpcUrl = chain.publicRpcUrl ?? chain.rpcUrls[0];
      if (rpcUrl === undefined) return [];
      return {
        id: chain.id,
        name: chain.name,
        testnet: chain.testnet,
        rpcUrl,
        nativeCurrency: chain.nativeCurrency,
        explorerUrl: chain.explorerUrl ?? null,
        multicall3: chain.contracts.multicall3,
      };
    }),
  };
};

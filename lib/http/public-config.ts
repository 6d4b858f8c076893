import { getServices } from "@/lib/composition";

export interface PublicChain {
  readonly id: number;
  readonly name: string;
  readonly testnet: boolean;
  /** Null: the operator publishes none, and only the person's wallet reaches the chain. */
  readonly rpcUrl: string | null;
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
    chains: config.chains.map((chain) => ({
      id: chain.id,
      name: chain.name,
      testnet: chain.testnet,
      rpcUrl: chain.publicRpcUrl ?? null,
      nativeCurrency: chain.nativeCurrency,
      explorerUrl: chain.explorerUrl ?? null,
      multicall3: chain.contracts.multicall3,
    })),
  };
};

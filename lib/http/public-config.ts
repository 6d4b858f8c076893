import { getServices } from "@/lib/composition";

export interface PublicChain {
  readonly id: number;
  readonly name: string;
  readonly testnet: boolean;
  /**
   * Null when the operator publishes no URL, so that browsers reach the chain only through the
   * person's wallet.
   */
  readonly rpcUrl: string | null;
  readonly nativeCurrency: {
    readonly name: string;
    readonly symbol: string;
    readonly decimals: number;
  };
  readonly explorerUrl: string | null;
  readonly multicall3: `0x${string}`;
}

/** Configuration that is sent to every browser. Never add a secret. */
export interface PublicConfig {
  readonly env: "development" | "production";
  /**
   * True when local chains run: then the faucet, the burner wallet and the development inbox exist.
   */
  readonly devnet: boolean;
  readonly walletConnectProjectId: string | null;
  readonly chains: readonly PublicChain[];
}

/** Reads the configuration for each request, so that one build serves every configuration. */
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

import { connectorsForWallets, type WalletList } from "@rainbow-me/rainbowkit";
import { injectedWallet, walletConnectWallet } from "@rainbow-me/rainbowkit/wallets";
import { defineChain, http, type Chain } from "viem";
import { createConfig, type Config } from "wagmi";
import { burnerWallet } from "@/components/features/burner/connector";
import type { PublicChain, PublicConfig } from "@/lib/http/public-config";

const toViemChain = (chain: PublicChain): Chain =>
  defineChain({
    id: chain.id,
    name: chain.name,
    testnet: chain.testnet,
    nativeCurrency: chain.nativeCurrency,
    rpcUrls: { default: { http: [chain.rpcUrl] } },
    contracts: { multicall3: { address: chain.multicall3 } },
    ...(chain.explorerUrl === null
      ? {}
      : { blockExplorers: { default: { name: "Explorer", url: chain.explorerUrl } } }),
  });

/**
 * Wallets of the browser announce themselves (EIP-6963). WalletConnect needs an id from its operator and calls its servers,
 * so it is there only where the operator of this service gave one. The burner wallet is for local chains.
 */
export const createWagmiConfig = (config: PublicConfig): Config => {
  const [first, ...rest] = config.chains.map(toViemChain);
  if (first === undefined) throw new Error("The configuration names no chain.");
  const wallets: WalletList = [
    ...(config.devnet ? [{ groupName: "Development", wallets: [burnerWallet(config.chains)] }] : []),
    {
      groupName: "Wallets",
      wallets: config.walletConnectProjectId === null ? [injectedWallet] : [injectedWallet, walletConnectWallet],
    },
  ];
  return createConfig({
    chains: [first, ...rest],
    connectors: connectorsForWallets(wallets, {
      appName: "Causeway",
      projectId: config.walletConnectProjectId ?? "none",
    }),
    transports: Object.fromEntries(config.chains.map((chain) => [chain.id, http(chain.rpcUrl)])),
    ssr: true,
  });
};

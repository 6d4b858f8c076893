import { connectorsForWallets, type WalletList } from "@rainbow-me/rainbowkit";
import { injectedWallet, walletConnectWallet } from "@rainbow-me/rainbowkit/wallets";
import { createConfig, type Config } from "wagmi";
import { burnerWallet } from "@/components/features/burner/connector";
import type { PublicConfig } from "@/lib/http/public-config";
import { chainsOf, transportsOf } from "./public-chains";

/**
 * Wallets of the browser announce themselves (EIP-6963). WalletConnect needs an id from its operator and calls its servers,
 * so it is there only where the operator of this service gave one. The burner wallet is for local chains.
 */
export const createWagmiConfig = (config: PublicConfig): Config => {
  const wallets: WalletList = [
    ...(config.devnet ? [{ groupName: "Development", wallets: [burnerWallet(config.chains)] }] : []),
    {
      groupName: "Wallets",
      wallets: config.walletConnectProjectId === null ? [injectedWallet] : [injectedWallet, walletConnectWallet],
    },
  ];
  return createConfig({
    chains: chainsOf(config.chains),
    connectors: connectorsForWallets(wallets, {
      appName: "Causeway",
      projectId: config.walletConnectProjectId ?? "none",
    }),
    transports: transportsOf(config.chains),
  });
};

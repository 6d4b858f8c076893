import { connectorsForWallets, type WalletList } from "@rainbow-me/rainbowkit";
import { injectedWallet, walletConnectWallet } from "@rainbow-me/rainbowkit/wallets";
import { type Config, createConfig } from "wagmi";
import { disconnect, reconnect } from "wagmi/actions";
import { burnerWallet } from "@/components/features/burner/connector";
import type { PublicConfig } from "@/lib/http/public-config";
import { chainsOf, transportsOf } from "./public-chains";

/**
 * The configuration of this browser tab; null until it is first needed. The server creates a new
 * configuration for each rendering, because it renders for many people.
 */
let ofTab: Config | null = null;
let opening: Promise<unknown> | null = null;

/**
 * The wallets of this tab. Load this file by a dynamic import: the wallet libraries are larger than
 * the rest of a page.
 */
export const walletsOf = (config: PublicConfig): Config =>
  typeof window === "undefined"
    ? createWagmiConfig(config)
    : (ofTab ??= createWagmiConfig(config));

/**
 * The wallets of this tab, after wallets that were connected before the page was loaded are
 * connected again.
 */
export const openWallets = async (publicConfig: PublicConfig): Promise<Config> => {
  const config = walletsOf(publicConfig);
  opening ??= reconnect(config);
  await opening;
  return config;
};

/** Disconnects every wallet, also those that were connected before the page was loaded. */
export const closeWallets = async (publicConfig: PublicConfig): Promise<void> => {
  const config = await openWallets(publicConfig);
  // A wallet may already be disconnected.
  await Promise.allSettled(
    config.connectors.map((connector) => disconnect(config, { connector })),
  );
};

/**
 * Creates wagmi's configuration with the wallets to choose from. Browser wallets announce
 * themselves (EIP-6963). WalletConnect needs a project id and calls its servers, so it is offered
 * only when the operator configured an id. The burner wallet is only for local chains.
 */
const createWagmiConfig = (config: PublicConfig): Config => {
  const wallets: WalletList = [
    ...(config.devnet
      ? [{ groupName: "Development", wallets: [burnerWallet(config.chains)] }]
      : []),
    {
      groupName: "Wallets",
      wallets:
        config.walletConnectProjectId === null
          ? [injectedWallet]
          : [injectedWallet, walletConnectWallet],
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

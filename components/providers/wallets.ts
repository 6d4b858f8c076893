import type { Config } from "wagmi";
import { disconnect, reconnect } from "wagmi/actions";
import type { PublicConfig } from "@/lib/http/public-config";
import { createWagmiConfig } from "./wagmi-config";

/** Of this browser tab. The server makes one for each rendering, because it renders for many people. */
let ofTab: Config | null = null;
let opening: Promise<unknown> | null = null;

/** The wallets of this tab. Load this file by a dynamic import: the wallet libraries are larger than the rest of a page. */
export const walletsOf = (config: PublicConfig): Config =>
  typeof window === "undefined" ? createWagmiConfig(config) : (ofTab ??= createWagmiConfig(config));

/** The same, once those are connected again that were connected before the page was loaded. */
export const openWallets = async (publicConfig: PublicConfig): Promise<Config> => {
  const config = walletsOf(publicConfig);
  opening ??= reconnect(config);
  await opening;
  return config;
};

/** Lets go of every wallet, also of those that were connected before the page was loaded. */
export const closeWallets = async (publicConfig: PublicConfig): Promise<void> => {
  const config = await openWallets(publicConfig);
  // A wallet may be gone already.
  await Promise.allSettled(config.connectors.map((connector) => disconnect(config, { connector })));
};

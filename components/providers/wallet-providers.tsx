"use client";

import { useEffect, useState, type ReactNode } from "react";
import { WagmiContext } from "wagmi";
import { usePublicConfig } from "./public-config";
import { openWallets, walletsOf } from "./wallets";

/**
 * Gives wagmi's hooks the wallets of this tab. Stands around the parts that use a wallet, which are loaded when they are drawn first, so
 * that no other page carries the wallet libraries.
 */
export const WalletProviders = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const publicConfig = usePublicConfig();
  const [config] = useState(() => walletsOf(publicConfig));
  useEffect(() => void openWallets(publicConfig), [publicConfig]);
  return <WagmiContext.Provider value={config}>{children}</WagmiContext.Provider>;
};

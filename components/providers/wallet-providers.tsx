"use client";

import { useEffect, useState, type ReactNode } from "react";
import { WagmiContext } from "wagmi";
import { usePublicConfig } from "./public-config";
import { openWallets, walletsOf } from "./wallets";

/**
 * Provides the tab's wallets to wagmi's hooks. It wraps only the parts that use a wallet, which are
 * loaded on demand, so that other pages do not load the wallet libraries.
 */
export const WalletProviders = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const publicConfig = usePublicConfig();
  const [config] = useState(() => walletsOf(publicConfig));
  useEffect(() => void openWallets(publicConfig), [publicConfig]);
  return <WagmiContext.Provider value={config}>{children}</WagmiContext.Provider>;
};

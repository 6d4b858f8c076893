"use client";

import "@rainbow-me/rainbowkit/styles.css";
import { cssStringFromTheme, RainbowKitProvider } from "@rainbow-me/rainbowkit";
import type { ReactNode } from "react";
import { rainbowTheme } from "@/components/providers/rainbow-theme";
import { WalletProviders } from "@/components/providers/wallet-providers";
import { useStyleNonce } from "@/components/ui/style-nonce";

/** The colours of the wallet dialog. RainbowKit inserts them in a style element without a nonce, which the page's security policy blocks. */
const RAINBOW_STYLE = { __html: `[data-rk]{${cssStringFromTheme(rainbowTheme)}}` };

/** Wallets and RainbowKit's dialog for the sign-in page; no other page loads them. */
export const SignInWallets = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <WalletProviders>
    <style {...useStyleNonce()} dangerouslySetInnerHTML={RAINBOW_STYLE} suppressHydrationWarning />
    <RainbowKitProvider theme={null} modalSize="compact">
      {children}
    </RainbowKitProvider>
  </WalletProviders>
);

"use client";

import { cssStringFromTheme, lightTheme, RainbowKitProvider } from "@rainbow-me/rainbowkit";
import "@rainbow-me/rainbowkit/styles.css";
import type { ReactNode } from "react";
import { WalletProviders } from "@/components/providers/wallet-providers";
import { useStyleNonce } from "@/components/ui/style-nonce";

const base = lightTheme({ borderRadius: "small", overlayBlur: "none" });

/** RainbowKit's theme with the app's colours, which follow the light or dark theme. */
const rainbowTheme: ReturnType<typeof lightTheme> = {
  ...base,
  colors: {
    ...base.colors,
    accentColor: "var(--accent)",
    accentColorForeground: "var(--on-accent)",
    actionButtonBorder: "var(--border)",
    actionButtonBorderMobile: "var(--border)",
    actionButtonSecondaryBackground: "var(--sunken)",
    closeButton: "var(--text-2)",
    closeButtonBackground: "var(--sunken)",
    connectButtonBackground: "var(--surface)",
    connectButtonInnerBackground: "var(--sunken)",
    connectButtonText: "var(--text-1)",
    error: "var(--danger)",
    generalBorder: "var(--border)",
    generalBorderDim: "var(--border)",
    menuItemBackground: "var(--sunken)",
    modalBackdrop: "var(--overlay)",
    modalBackground: "var(--surface)",
    modalBorder: "var(--border)",
    modalText: "var(--text-1)",
    modalTextDim: "var(--text-3)",
    modalTextSecondary: "var(--text-2)",
    profileAction: "var(--sunken)",
    profileActionHover: "var(--border)",
    profileForeground: "var(--surface)",
    selectedOptionBorder: "var(--control)",
  },
  fonts: { body: "var(--font-sans)" },
};

/**
 * The colours of the wallet dialog. RainbowKit itself would insert them in a style element without
 * a nonce, which the page's security policy blocks.
 */
const RAINBOW_STYLE = { __html: `[data-rk]{${cssStringFromTheme(rainbowTheme)}}` };

/** Wallets and RainbowKit's dialog for the sign-in page; no other page loads them. */
export const SignInWallets = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <WalletProviders>
    <style
      {...useStyleNonce()}
      dangerouslySetInnerHTML={RAINBOW_STYLE}
      suppressHydrationWarning
    />
    <RainbowKitProvider theme={null} modalSize="compact">
      {children}
    </RainbowKitProvider>
  </WalletProviders>
);

"use client";

import "./zod-without-eval";
import "@rainbow-me/rainbowkit/styles.css";
import { cssStringFromTheme, RainbowKitProvider } from "@rainbow-me/rainbowkit";
import { QueryClientProvider } from "@tanstack/react-query";
import { ThemeProvider } from "next-themes";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import { useState, type ReactNode } from "react";
import { WagmiProvider } from "wagmi";
import { AccessTokenProvider } from "@/components/features/session/access-token";
import { BurnerConfirm } from "@/components/features/burner/burner-confirm";
import { Toaster } from "@/components/ui/toaster";
import { TooltipProvider } from "@/components/ui/tooltip";
import type { PublicConfig } from "@/lib/http/public-config";
import { PublicConfigProvider } from "./public-config";
import { createQueryClient } from "./query-client";
import { rainbowTheme } from "./rainbow-theme";
import { StyleNonceProvider, useDocumentNonce } from "@/components/ui/style-nonce";
import { createWagmiConfig } from "./wagmi-config";

/** The colours of the wallet dialog. RainbowKit inserts them in a style element without a nonce, which the page's security policy blocks. */
const RAINBOW_STYLE = { __html: `[data-rk]{${cssStringFromTheme(rainbowTheme)}}` };

interface ProvidersProps {
  readonly config: PublicConfig;
  readonly signedIn: boolean;
  /** Of this answer's content security policy; null where the server sends none. */
  readonly nonce: string | null;
  readonly children: ReactNode;
}

export const Providers = ({ config, signedIn, nonce: sentNonce, children }: ProvidersProps): ReactNode => {
  const [queryClient] = useState(createQueryClient);
  const [wagmiConfig] = useState(() => createWagmiConfig(config));
  const nonce = useDocumentNonce(sentNonce);
  const nonceProps = nonce === undefined ? {} : { nonce };
  return (
    <PublicConfigProvider config={config}>
      <ThemeProvider attribute="class" defaultTheme="system" disableTransitionOnChange {...nonceProps}>
        <AccessTokenProvider signedIn={signedIn}>
          <WagmiProvider config={wagmiConfig}>
            <QueryClientProvider client={queryClient}>
              <style {...nonceProps} dangerouslySetInnerHTML={RAINBOW_STYLE} suppressHydrationWarning />
              <RainbowKitProvider theme={null} modalSize="compact">
                <NuqsAdapter>
                  <StyleNonceProvider nonce={nonce}>
                    <TooltipProvider>
                      {children}
                      {config.devnet ? <BurnerConfirm /> : null}
                      <Toaster />
                    </TooltipProvider>
                  </StyleNonceProvider>
                </NuqsAdapter>
              </RainbowKitProvider>
            </QueryClientProvider>
          </WagmiProvider>
        </AccessTokenProvider>
      </ThemeProvider>
    </PublicConfigProvider>
  );
};

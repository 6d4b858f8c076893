"use client";

import "./zod-without-eval";
import "@rainbow-me/rainbowkit/styles.css";
import { RainbowKitProvider } from "@rainbow-me/rainbowkit";
import { QueryClientProvider } from "@tanstack/react-query";
import type { Session } from "next-auth";
import { SessionProvider } from "next-auth/react";
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
import { createWagmiConfig } from "./wagmi-config";

/** The service renews an access token in its last 5 minutes; a page that stays open has to ask within them. */
const SESSION_REFRESH_SECONDS = 240;

interface ProvidersProps {
  readonly config: PublicConfig;
  readonly session: Session | null;
  readonly children: ReactNode;
}

export const Providers = ({ config, session, children }: ProvidersProps): ReactNode => {
  const [queryClient] = useState(createQueryClient);
  const [wagmiConfig] = useState(() => createWagmiConfig(config));
  return (
    <PublicConfigProvider config={config}>
      <ThemeProvider attribute="class" defaultTheme="system" disableTransitionOnChange>
        <SessionProvider session={session} refetchInterval={SESSION_REFRESH_SECONDS}>
          <AccessTokenProvider>
            <WagmiProvider config={wagmiConfig}>
              <QueryClientProvider client={queryClient}>
                <RainbowKitProvider theme={rainbowTheme} modalSize="compact">
                  <NuqsAdapter>
                    <TooltipProvider>
                      {children}
                      {config.devnet ? <BurnerConfirm /> : null}
                      <Toaster />
                    </TooltipProvider>
                  </NuqsAdapter>
                </RainbowKitProvider>
              </QueryClientProvider>
            </WagmiProvider>
          </AccessTokenProvider>
        </SessionProvider>
      </ThemeProvider>
    </PublicConfigProvider>
  );
};

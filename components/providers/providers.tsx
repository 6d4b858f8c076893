"use client";

import "./zod-without-eval";
import { QueryClientProvider } from "@tanstack/react-query";
import { ThemeProvider } from "next-themes";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import { useState, type ReactNode } from "react";
import { AccessTokenProvider } from "@/components/features/session/access-token";
import { BurnerConfirm } from "@/components/features/burner/burner-confirm";
import { PreferencesProvider } from "@/components/ui/preferences";
import { Toaster } from "@/components/ui/toaster";
import { TooltipProvider } from "@/components/ui/tooltip";
import type { Preferences } from "@/lib/core/browser-cookies";
import type { PublicConfig } from "@/lib/http/public-config";
import { PublicConfigProvider } from "./public-config";
import { createQueryClient } from "./query-client";
import { StyleNonceProvider, useDocumentNonce } from "@/components/ui/style-nonce";

interface ProvidersProps {
  readonly config: PublicConfig;
  readonly signedIn: boolean;
  readonly preferences: Preferences;
  /** Of this answer's content security policy; null where the server sends none. */
  readonly nonce: string | null;
  readonly children: ReactNode;
}

export const Providers = ({ config, signedIn, preferences, nonce: sentNonce, children }: ProvidersProps): ReactNode => {
  const [queryClient] = useState(createQueryClient);
  const nonce = useDocumentNonce(sentNonce);
  const nonceProps = nonce === undefined ? {} : { nonce };
  return (
    <PublicConfigProvider config={config}>
      <PreferencesProvider sent={preferences}>
        <ThemeProvider attribute="class" defaultTheme="system" disableTransitionOnChange {...nonceProps}>
          <AccessTokenProvider signedIn={signedIn}>
            <QueryClientProvider client={queryClient}>
              <NuqsAdapter>
                <StyleNonceProvider nonce={nonce}>
                  <TooltipProvider>
                    {children}
                    {config.devnet ? <BurnerConfirm /> : null}
                    <Toaster />
                  </TooltipProvider>
                </StyleNonceProvider>
              </NuqsAdapter>
            </QueryClientProvider>
          </AccessTokenProvider>
        </ThemeProvider>
      </PreferencesProvider>
    </PublicConfigProvider>
  );
};

"use client";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { ThemeProvider } from "next-themes";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import { type ReactNode, useState } from "react";
import { BurnerConfirm } from "@/components/features/burner/burner-confirm";
import { AccessTokenProvider } from "@/components/features/session/access-token";
import { readFrom } from "@/components/features/session/api-query";
import { useApi } from "@/components/features/session/use-api";
import { describeError } from "@/components/ui/describe-error";
import { PreferencesProvider } from "@/components/ui/preferences";
import { StyleNonceProvider, useDocumentNonce } from "@/components/ui/style-nonce";
import { Toaster } from "@/components/ui/toaster";
import { TooltipProvider } from "@/components/ui/tooltip";
import type { ApiClient } from "@/lib/api-client/client";
import type { Preferences } from "@/lib/core/browser-cookies";
import type { PublicConfig } from "@/lib/http/public-config";
import { PublicConfigProvider } from "./public-config";
import { ServiceWorker } from "./service-worker";
import "./zod-without-eval";

interface ProvidersProps {
  readonly config: PublicConfig;
  readonly signedIn: boolean;
  readonly preferences: Preferences;
  /** Nonce of this response's content security policy; null when there is none. */
  readonly nonce: string | null;
  readonly children: ReactNode;
}

export const Providers = ({
  config,
  signedIn,
  preferences,
  nonce: sentNonce,
  children,
}: ProvidersProps): ReactNode => {
  const nonce = useDocumentNonce(sentNonce);
  const nonceProps = nonce === undefined ? {} : { nonce };
  return (
    <PublicConfigProvider config={config}>
      <PreferencesProvider sent={preferences}>
        <ThemeProvider
          attribute="class"
          defaultTheme="system"
          disableTransitionOnChange
          {...nonceProps}
        >
          <AccessTokenProvider signedIn={signedIn}>
            <ApiQueries>
              <NuqsAdapter>
                <StyleNonceProvider nonce={nonce}>
                  <TooltipProvider>
                    {children}
                    {config.devnet ? <BurnerConfirm /> : null}
                    <Toaster />
                    <ServiceWorker />
                  </TooltipProvider>
                </StyleNonceProvider>
              </NuqsAdapter>
            </ApiQueries>
          </AccessTokenProvider>
        </ThemeProvider>
      </PreferencesProvider>
    </PublicConfigProvider>
  );
};

const ApiQueries = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const api = useApi();
  const [client] = useState(() => createQueryClient(api));
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
};

const STALE_MS = 5_000;
const RETRIES_MAX = 2;
const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 5_000;

/**
 * Whether a failed request is worth repeating: there was no answer, or the failure may be
 * temporary.
 */
const isPassing = (error: unknown): boolean => {
  const { offline, code } = describeError(error);
  return (
    offline ||
    code === "chain_unavailable" ||
    code === "provider_error" ||
    code === "rate_limited"
  );
};

const createQueryClient = (api: ApiClient): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        queryFn: readFrom(api),
        staleTime: STALE_MS,
        retry: (failures, error) => failures < RETRIES_MAX && isPassing(error),
        retryDelay: (attempt) => Math.min(RETRY_BASE_MS * 2 ** attempt, RETRY_MAX_MS),
      },
      // A POST is never repeated automatically. A person can repeat it, with the same idempotency
      // key.
      mutations: { retry: false },
    },
  });

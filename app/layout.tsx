import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { Providers } from "@/components/providers/providers";
import { readPreferences } from "@/lib/http/preferences";
import { getPublicConfig } from "@/lib/http/public-config";
import { getBrowserSession } from "@/lib/http/session";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Causeway", template: "%s · Causeway" },
  description: "Wallets on many chains and one way to move money over them.",
  icons: { icon: "/icon.svg", apple: "/icons/apple-touch-icon.png" },
  manifest: "/manifest.webmanifest",
  appleWebApp: { capable: true, title: "Causeway" },
};

export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f7f6f3" },
    { media: "(prefers-color-scheme: dark)", color: "#0e1112" },
  ],
};

/**
 * Header with the nonce of the content security policy. server.ts sets it. With `next start`
 * instead of server.ts, a response has neither the nonce nor a policy.
 */
const NONCE_HEADER = "x-causeway-nonce";

// Pages depend on the chains and secrets of the running service, so the build must not render them.
export const dynamic = "force-dynamic";

interface LayoutProps {
  readonly children: ReactNode;
}

const RootLayout = async ({ children }: LayoutProps): Promise<ReactNode> => {
  const [session, sent, preferences] = await Promise.all([
    getBrowserSession(),
    headers(),
    readPreferences(),
  ]);
  return (
    // next-themes sets the theme's class before React hydrates, so the attribute differs from the
    // server's HTML.
    <html lang="en" suppressHydrationWarning>
      <body className="min-h-dvh antialiased">
        <Providers
          config={getPublicConfig()}
          signedIn={session !== null}
          preferences={preferences}
          nonce={sent.get(NONCE_HEADER)}
        >
          {children}
        </Providers>
      </body>
    </html>
  );
};

export default RootLayout;

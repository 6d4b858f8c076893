import "./globals.css";
import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { Providers } from "@/components/providers/providers";
import { readPreferences } from "@/lib/http/preferences";
import { getPublicConfig } from "@/lib/http/public-config";
import { getBrowserSession } from "@/lib/http/session";

export const metadata: Metadata = {
  title: { default: "Causeway", template: "%s · Causeway" },
  description: "Wallets on many chains and one way to move money over them.",
  icons: { icon: "/icon.svg" },
};

export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f7f6f3" },
    { media: "(prefers-color-scheme: dark)", color: "#0e1112" },
  ],
};

/** Set by server.ts; absent under plain `next start`, which sends no content security policy either. */
const NONCE_HEADER = "x-causeway-nonce";

// Chains and secrets are known only where the service runs, so no page is drawn at build time.
export const dynamic = "force-dynamic";

interface LayoutProps {
  readonly children: ReactNode;
}

const RootLayout = async ({ children }: LayoutProps): Promise<ReactNode> => {
  const [session, sent, preferences] = await Promise.all([getBrowserSession(), headers(), readPreferences()]);
  return (
    // next-themes sets the class of the theme before React is there.
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

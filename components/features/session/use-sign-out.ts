"use client";

import { toast } from "@/components/ui/toast";
import { usePublicConfig } from "@/components/providers/public-config";

/**
 * Ends the session at the service and in this browser, disconnects all wallets, and opens the
 * sign-in page.
 */
export const useSignOut = (): (() => Promise<void>) => {
  const config = usePublicConfig();
  return async () => {
    try {
      const { signOut } = await import("next-auth/react");
      await signOut({ redirect: false });
    } catch {
      toast.error("The service cannot be reached, so you are still signed in. Try again.");
      return;
    }
    const { endBrowserPush } = await import("@/components/features/notifications/browser-push");
    // The service sends nothing to an ended session, so a failure here does no harm.
    await endBrowserPush().catch(() => undefined);
    const { closeWallets } = await import("@/components/providers/wallets");
    // A wallet that cannot be disconnected must not stop the sign-out.
    await closeWallets(config).catch(() => undefined);
    window.location.assign("/sign-in");
  };
};

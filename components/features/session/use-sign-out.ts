"use client";

import { toast } from "@/components/ui/toast";
import { usePublicConfig } from "@/components/providers/public-config";

/** Ends the session at the service and in this browser, lets go of all wallets, and goes to the sign-in page. */
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
    const { closeWallets } = await import("@/components/providers/wallets");
    // The session is what counts.
    await closeWallets(config).catch(() => undefined);
    window.location.assign("/sign-in");
  };
};

"use client";

import { signOut } from "next-auth/react";
import { toast } from "sonner";
import { useDisconnect } from "wagmi";

/** Ends the session at the service and in this browser, lets go of all wallets, and goes to the sign-in page. */
export const useSignOut = (): (() => Promise<void>) => {
  const { disconnectAsync, connectors } = useDisconnect();
  return async () => {
    try {
      await signOut({ redirect: false });
    } catch {
      toast.error("The service cannot be reached, so you are still signed in. Try again.");
      return;
    }
    // A wallet may be gone already; the session is what counts.
    await Promise.allSettled(connectors.map((connector) => disconnectAsync({ connector })));
    window.location.assign("/sign-in");
  };
};

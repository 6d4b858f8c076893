"use client";

import { useSwapSetup } from "@/components/features/swap/use-swap-setup";
import { useChosenWallet } from "../use-chosen-wallet";
import { usePrivacyWallets, usePrivateBalances } from "../use-private";
import type { PrivateSetup } from "./use-private-form";

export type PrivateSetupState =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown; readonly retry: () => void }
  | { readonly state: "ready"; readonly setup: PrivateSetup };

/** Loads the private wallets, their balances, and the balances of the treasury. */
export const usePrivateSetup = (): PrivateSetupState => {
  const balances = usePrivateBalances();
  const wallets = usePrivacyWallets();
  const swap = useSwapSetup();
  const chosen = useChosenWallet({ wallets, balances });
  // Without any wallet the first one is on its way.
  if (balances.data !== undefined && wallets.data !== undefined && chosen.walletId !== "" && swap.state === "ready") {
    const setup = { wallets: wallets.data.data, balances: balances.data, chosen, setup: swap.setup };
    return { state: "ready", setup };
  }
  const failed = [balances, wallets].find((query) => query.isError && query.data === undefined);
  if (failed !== undefined) return { state: "failed", error: failed.error, retry: () => void failed.refetch() };
  return swap.state === "failed" ? swap : { state: "loading" };
};

"use client";

import { parseAsString, useQueryState } from "nuqs";
import type { PrivacyWallet } from "./types";

export interface ChosenWallet {
  /** Empty where the project has no private wallet yet. */
  readonly walletId: string;
  readonly choose: (walletId: string) => void;
}

/** The private wallet that a page is about, in the page's address; the oldest where it names none of these. */
export const useChosenWallet = (wallets: readonly PrivacyWallet[]): ChosenWallet => {
  const [asked, setAsked] = useQueryState("wallet", parseAsString.withOptions({ history: "replace" }));
  const oldest = [...wallets].sort((one, other) => one.createdAt.localeCompare(other.createdAt))[0];
  const chosen = wallets.find(({ privacyWalletId }) => privacyWalletId === asked) ?? oldest;
  return { walletId: chosen?.privacyWalletId ?? "", choose: (walletId) => void setAsked(walletId) };
};

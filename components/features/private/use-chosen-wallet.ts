"use client";

import { parseAsString, useQueryState } from "nuqs";
import { useEffect } from "react";
import { useApiQuery } from "@/components/features/session/use-api";
import { listPrivateTransfers } from "@/lib/api-client/calls.gen";
import { openingWallet } from "./opening-wallet";
import type { usePrivacyWallets, usePrivateBalances } from "./use-private";

export interface ChosenWallet {
  /** Empty where the project has no private wallet yet, and before it is known. */
  readonly walletId: string;
  /** False until wallets, balances and the latest use say which wallet it is. */
  readonly isKnown: boolean;
  readonly choose: (walletId: string) => void;
}

interface Queries {
  readonly wallets: ReturnType<typeof usePrivacyWallets>;
  readonly balances: ReturnType<typeof usePrivateBalances>;
}

/**
 * The private wallet that a page is about, in the page's address. An address that names none gets the wallet with which pages open; it is written
 * there, so that a later use of another wallet does not exchange it while somebody reads.
 */
export const useChosenWallet = ({ wallets, balances }: Queries): ChosenWallet => {
  const [asked, setAsked] = useQueryState("wallet", parseAsString.withOptions({ history: "replace" }));
  const known = wallets.data?.data ?? [];
  const named = known.find(({ privacyWalletId }) => privacyWalletId === asked);
  const latest = useApiQuery(listPrivateTransfers, { query: { limit: 1 } }, { enabled: named === undefined });
  const isKnown = named !== undefined || ![wallets, balances, latest].some(({ isPending }) => isPending);
  const lastUsed = latest.data?.data[0]?.privacyWalletId;
  const opening = isKnown ? openingWallet(known, { balances: balances.data?.data ?? [], lastUsed }) : undefined;
  const walletId = (named ?? opening)?.privacyWalletId ?? "";
  useEffect(() => {
    // A name that is not in the list may be that of a wallet which was created a moment ago.
    if (asked === null && walletId !== "") void setAsked(walletId);
  }, [walletId, asked, setAsked]);
  return { walletId, isKnown, choose: (next) => void setAsked(next) };
};

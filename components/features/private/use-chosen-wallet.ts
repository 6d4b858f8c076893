"use client";

import { parseAsString, useQueryState } from "nuqs";
import { useEffect } from "react";
import { useQuery } from "@tanstack/react-query";
import { hasMoney, type PoolBalance, type PrivacyWallet } from "./parts";
import {
  type usePrivacyWallets,
  type usePrivateBalances,
  latestPrivateTransferQuery,
} from "./use-private";

export interface ChosenWallet {
  /** Empty where the project has no private wallet yet, and while it is loading. */
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
 * The private wallet of a page, which the page's address names. Without a name the page opens with
 * the wallet of `openingWallet` and writes its id into the address, so that a later use of another
 * wallet does not change the page while somebody reads it.
 */
export const useChosenWallet = ({ wallets, balances }: Queries): ChosenWallet => {
  const [requested, setRequested] = useQueryState(
    "wallet",
    parseAsString.withOptions({ history: "replace" }),
  );
  const allWallets = wallets.data?.data ?? [];
  const named = allWallets.find(({ id }) => id === requested);
  const latest = useQuery({ ...latestPrivateTransferQuery, enabled: named === undefined });
  const isKnown =
    named !== undefined || ![wallets, balances, latest].some(({ isPending }) => isPending);
  const lastUsed = latest.data?.data[0]?.privacyWalletId;
  const opening = isKnown
    ? openingWallet(allWallets, { balances: balances.data?.data ?? [], lastUsed })
    : undefined;
  const walletId = (named ?? opening)?.id ?? "";
  useEffect(() => {
    // A requested id that is not in the list may be of a wallet that was created a moment ago.
    if (requested === null && walletId !== "") void setRequested(walletId);
  }, [walletId, requested, setRequested]);
  return { walletId, isKnown, choose: (next) => void setRequested(next) };
};

interface Known {
  readonly balances: readonly PoolBalance[];
  /** The wallet of the newest private operation; undefined where there is none. */
  readonly lastUsed: string | undefined;
}

/**
 * The private wallet that a page opens with: the last used one, else the oldest with money, else
 * the oldest.
 */
export const openingWallet = (
  wallets: readonly PrivacyWallet[],
  { balances, lastUsed }: Known,
): PrivacyWallet | undefined => {
  const oldestFirst = [...wallets].sort((one, other) =>
    one.createdAt.localeCompare(other.createdAt),
  );
  const withMoney = new Set(
    balances.filter(hasMoney).map(({ privacyWalletId }) => privacyWalletId),
  );
  return (
    oldestFirst.find(({ id }) => id === lastUsed) ??
    oldestFirst.find(({ id }) => withMoney.has(id)) ??
    oldestFirst[0]
  );
};

"use client";

import { parseAsString, useQueryState } from "nuqs";
import { useEffect, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { hasMoney, type PoolBalance, type PrivacyWallet } from "./parts";
import {
  type usePrivacyWallets,
  type usePrivateBalances,
  latestPrivateTransferQuery,
} from "./use-private";

export interface ChosenWallet {
  /** Empty while the wallets are loading, and when the project has no private wallet yet. */
  readonly walletId: string;
  /** False while the data that determines the wallet is loading. */
  readonly isKnown: boolean;
  readonly choose: (walletId: string) => void;
}

interface Queries {
  readonly wallets: ReturnType<typeof usePrivacyWallets>;
  readonly balances: ReturnType<typeof usePrivateBalances>;
}

/**
 * The private wallet of a page, as named in the page's address. Without a name, the page opens with
 * the wallet of `openingWallet` and stays with it when somebody uses another wallet later. The
 * address is not changed for it, because a change would cancel a click on a link at that moment.
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
  const [openedId, setOpenedId] = useState("");
  const opened = allWallets.find(({ id }) => id === openedId) ?? opening;
  const walletId = (named ?? opened)?.id ?? "";
  useEffect(() => {
    if (openedId === "") setOpenedId(walletId);
  }, [walletId, openedId]);
  return { walletId, isKnown, choose: (next) => void setRequested(next) };
};

interface Known {
  readonly balances: readonly PoolBalance[];
  /** The wallet of the newest private operation; undefined when there is none. */
  readonly lastUsed: string | undefined;
}

/**
 * The private wallet that a page opens with: the last used one, otherwise the oldest with money,
 * otherwise the oldest.
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

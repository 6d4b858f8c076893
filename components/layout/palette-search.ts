"use client";

import { titleOf } from "@/components/features/payouts/payout";
import { useTitleOptions } from "@/components/ui/use-title-options";
import { STATUS_VIEWS } from "@/components/ui/status-badge";
import { useSettled } from "@/components/ui/use-settled";
import { useContacts } from "@/components/features/contacts/use-contacts";
import { accountName } from "@/components/features/global-accounts/account";
import { useApiQuery } from "@/components/features/session/use-api";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { walletName } from "@/components/features/wallets/wallet-name";
import { listGlobalAccounts, listPayouts } from "@/lib/api-client/calls.gen";

export interface PaletteRecord {
  readonly kind: "account" | "contact" | "wallet" | "payout";
  readonly id: string;
  readonly name: string;
  /** Muted, behind the name. */
  readonly detail: string;
  readonly href: string;
}

const SHOWN_OF_KIND = 5;
const PAYOUTS_READ = 100;
const STALE_MS = 30_000;
const SEARCH_MAX = 80;

const fits = (text: string, ...fields: readonly string[]): boolean =>
  fields.some((field) => field.toLowerCase().includes(text.toLowerCase()));

/** The records of the project that a text finds by name, address or id; none while nothing is typed. */
export const usePaletteRecords = (text: string): readonly PaletteRecord[] => {
  const typed = text.trim();
  const enabled = typed !== "";
  const [settled] = useSettled(typed);
  const options = useTitleOptions();
  const wallets = useWallets().data?.data ?? [];
  const contacts = useContacts().data?.data ?? [];
  const accounts = useApiQuery(
    listGlobalAccounts,
    { query: { q: (settled ?? "").slice(0, SEARCH_MAX), limit: SHOWN_OF_KIND } },
    { enabled: settled !== null && settled !== "", staleTimeMs: STALE_MS },
  ).data;
  const payouts = useApiQuery(listPayouts, { query: { limit: PAYOUTS_READ } }, { enabled, staleTimeMs: STALE_MS }).data;
  if (!enabled) return [];
  const found: PaletteRecord[][] = [
    (accounts?.data ?? []).map((account) => ({
      kind: "account",
      id: account.id,
      name: accountName(account),
      detail: account.currency,
      href: `/accounts/${account.id}`,
    })),
    contacts
      .filter(({ name, address }) => fits(typed, name, address))
      .map(({ id, name, address }) => ({
        kind: "contact",
        id,
        name,
        detail: address,
        href: `/transfer?recipient=${address}`,
      })),
    wallets
      .filter((wallet) => fits(typed, walletName(wallet), wallet.address, wallet.id))
      .map((wallet) => ({
        kind: "wallet",
        id: wallet.id,
        name: walletName(wallet),
        detail: wallet.address,
        href: `/wallets?address=${wallet.address}`,
      })),
    (payouts?.data ?? [])
      .filter((payout) => fits(typed, payout.payoutId, titleOf(payout, options)))
      .map((payout) => ({
        kind: "payout",
        id: payout.payoutId,
        name: titleOf(payout, options),
        detail: STATUS_VIEWS[payout.status].word,
        href: `/payouts/${payout.payoutId}`,
      })),
  ];
  return found.flatMap((records) => records.slice(0, SHOWN_OF_KIND));
};

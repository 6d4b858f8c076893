"use client";

import { useContacts } from "@/components/features/contacts/use-contacts";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { walletName } from "@/components/features/wallets/wallet-name";
import { shorten } from "@/components/ui/address";
import type { PrivateTransfer } from "./types";
import { usePrivacyWallets } from "./use-private";

export interface PrivateNames {
  readonly walletName: (privacyWalletId: string) => string;
  /** A wallet of the project, a contact, or the address with its middle left out. */
  readonly addressName: (address: string) => string;
  /** The recipient's name where it has one. The recipient of shields and swaps is the wallet that pays. */
  readonly recipientName: (transfer: PrivateTransfer) => string;
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Names before ids, for everything on the private pages. */
export const usePrivateNames = (): PrivateNames => {
  const privacyWallets = usePrivacyWallets().data?.data ?? [];
  const wallets = useWallets().data?.data ?? [];
  const contacts = useContacts().data?.data ?? [];
  const nameOf = (id: string): string =>
    privacyWallets.find(({ privacyWalletId }) => privacyWalletId === id)?.name ?? "Private wallet";
  const addressName = (address: string): string => {
    const own = wallets.find((wallet) => same(wallet.address, address));
    if (own !== undefined) return walletName(own);
    return contacts.find((contact) => same(contact.address, address))?.name ?? shorten(address);
  };
  return {
    walletName: nameOf,
    addressName,
    recipientName: ({ kind, toAddress, toPrivacyWalletId, privacyWalletId }) => {
      if (kind === "public_exit") return "Treasury";
      if (toAddress !== null) return addressName(toAddress);
      return nameOf(toPrivacyWalletId ?? privacyWalletId);
    },
  };
};

"use client";

import { useContacts } from "@/components/features/contacts/use-contacts";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { walletName } from "@/components/features/wallets/wallet-name";

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The name of a wallet of the project or of a contact; undefined where the address has none. */
export const useAddressName = (): ((address: string) => string | undefined) => {
  const wallets = useWallets().data?.data ?? [];
  const contacts = useContacts().data?.data ?? [];
  return (address) => {
    const wallet = wallets.find((each) => same(each.address, address));
    if (wallet !== undefined) return walletName(wallet);
    return contacts.find((contact) => same(contact.address, address))?.name;
  };
};

"use client";

import { useMemo } from "react";
import { useActorNames } from "@/components/features/audit/use-actor-names";
import { useContacts } from "@/components/features/contacts/use-contacts";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { walletName } from "@/components/features/wallets/wallet-name";
import { shorten } from "@/components/ui/address";

export interface Names {
  /** Of a wallet of the project or a contact; undefined where the address has no name. */
  readonly ofAddress: (address: string) => string | undefined;
  /** The same, or the address with its middle left out. */
  readonly addressName: (address: string) => string;
  /** A sentence of the service with names, or short addresses, in place of the addresses in it. */
  readonly inSentence: (sentence: string) => string;
}

const ADDRESS = /0x[0-9a-f]{40}\b/gi;

/** Names before ids: wallets of the project by their label, contacts by theirs. */
export const useNames = (): Names => {
  const wallets = useWallets().data;
  const contacts = useContacts().data;
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const { address, name } of contacts?.data ?? []) names.set(address.toLowerCase(), name);
    for (const wallet of wallets?.data ?? []) names.set(wallet.address.toLowerCase(), walletName(wallet));
    const ofAddress = (address: string): string | undefined => names.get(address.toLowerCase());
    const addressName = (address: string): string => ofAddress(address) ?? shorten(address);
    return { ofAddress, addressName, inSentence: (sentence) => sentence.replace(ADDRESS, addressName) };
  }, [wallets, contacts]);
};

/** Who did something, in the middle of a sentence: `you`, an e-mail address, `key Payroll backend`. */
export const useActorInSentence = (): ((actor: string) => string) => {
  const nameOf = useActorNames();
  return (actor) => {
    const name = nameOf(actor);
    return name === "You" ? "you" : name.replace(/^Key /, "key ");
  };
};

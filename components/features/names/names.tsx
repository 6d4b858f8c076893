"use client";

import { KeyRound } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { useActorNames, usePersonAddresses } from "@/components/features/audit/names";
import { useContacts } from "@/components/features/contacts/use-contacts";
import {
  trustedWalletName,
  useWallets,
  walletName,
} from "@/components/features/wallets/use-wallets";
import { Address, AddressMark, type AddressProps, shorten } from "@/components/ui/address";
import { cn } from "@/components/ui/cn";
import { Shortened } from "@/components/ui/shortened";
import { CopyButton } from "@/components/ui/button";
import { isApprovedOn, listedName } from "@/lib/core/look-alike";

export interface Names {
  /**
   * A name that people may rely on for decisions: the name of a wallet whose key the service holds,
   * or of a contact that is approved for the chain. Undefined for all other addresses.
   * @param chainId the chain on which the address is paid; undefined when the chain is unknown
   */
  readonly ofAddress: (address: string, chainId?: number) => string | undefined;
  /** The name from `ofAddress`, or else the shortened address. */
  readonly addressName: (address: string, chainId?: number) => string;
  /**
   * The name for a list of past movements. It also includes contacts that are not approved, and
   * marks them as such.
   */
  readonly inList: (address: string) => string | undefined;
  /** Replaces the addresses in a sentence of the service by `addressName`. */
  readonly inSentence: (sentence: string) => string;
}

const ADDRESS = /0x[0-9a-f]{40}\b/gi;

/** All pages take names for addresses from this hook. */
export const useNames = (): Names => {
  const wallets = useWallets().data;
  const contacts = useContacts().data;
  return useMemo(() => {
    const walletAt = new Map(
      (wallets?.data ?? []).map((wallet) => [wallet.address.toLowerCase(), wallet]),
    );
    const contactAt = new Map(
      (contacts?.data ?? []).map((contact) => [contact.address.toLowerCase(), contact]),
    );
    const ofAddress: Names["ofAddress"] = (address, chainId) => {
      const wallet = walletAt.get(address.toLowerCase());
      if (wallet !== undefined) return trustedWalletName(wallet);
      const contact = contactAt.get(address.toLowerCase());
      if (contact === undefined || !isApprovedOn(contact, chainId ?? null)) return undefined;
      return contact.name;
    };
    const addressName: Names["addressName"] = (address, chainId) =>
      ofAddress(address, chainId) ?? shorten(address);
    const inList: Names["inList"] = (address) => {
      const wallet = walletAt.get(address.toLowerCase());
      if (wallet !== undefined) return walletName(wallet);
      const contact = contactAt.get(address.toLowerCase());
      return contact === undefined ? undefined : listedName(contact);
    };
    return {
      ofAddress,
      addressName,
      inList,
      inSentence: (sentence) => sentence.replace(ADDRESS, (address) => addressName(address)),
    };
  }, [wallets, contacts]);
};

/**
 * The name of an actor for the middle of a sentence: `you`, an e-mail address, `key Payroll
 * backend`.
 */
export const useActorInSentence = (): ((actor: string) => string) => {
  const nameOf = useActorNames();
  return (actor) => {
    const name = nameOf(actor);
    return name === "You" ? "you" : name.replace(/^Key /, "key ");
  };
};

/**
 * The name of a person or key for a list, from the name that the service sent: `You`, or the name,
 * with addresses of wallets shortened.
 */
export const useSentName = (): ((id: string, name: string) => string) => {
  const nameOf = useActorNames();
  return (id, name) => {
    if (nameOf(id) === "You") return "You";
    return name.replace(ADDRESS, (address) => shorten(address));
  };
};

interface ActorProps {
  readonly id: string;
  /**
   * The name that the service sent with the id. Without it, the name of the id is looked up among
   * the current members and keys, which do not include former ones.
   */
  readonly name?: string | null;
}

export const Actor = ({ id, name = null }: ActorProps): ReactNode => {
  const nameOf = useActorNames();
  const sentName = useSentName();
  const text = name === null ? nameOf(id) : sentName(id, name);
  const addresses = usePersonAddresses();
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-1.5 align-middle">
      {id.startsWith("key_") ? (
        <KeyRound className="size-4 shrink-0 text-fg-3" aria-hidden />
      ) : (
        <AddressMark value={addresses.get(id) ?? id} />
      )}
      <Shortened detail={id}>{text}</Shortened>
      <CopyButton value={id} label="Copy id" />
    </span>
  );
};

export const NamedAddress = ({
  chainId,
  ...props
}: Omit<AddressProps, "name"> & { readonly chainId?: number }): ReactNode => {
  const name = useNames().ofAddress(props.value, chainId);
  return <Address {...props} name={name} />;
};

interface PartyProps {
  readonly address: string;
  readonly className?: string;
}

export const Party = ({ address, className }: PartyProps): ReactNode => {
  const name = useNames().inList(address);
  return (
    <span
      className={cn(
        "inline-flex max-w-48 items-center gap-1.5 align-middle",
        name === undefined ? "shrink-0" : "min-w-0",
        className,
      )}
    >
      <AddressMark value={address} />
      {name === undefined ? (
        <span className="shrink-0 font-mono text-sm whitespace-nowrap" title={address}>
          {shorten(address)}
        </span>
      ) : (
        <Shortened detail={address}>{name}</Shortened>
      )}
    </span>
  );
};

export const RecipientName = ({
  address,
  chainId,
}: {
  readonly address: string;
  readonly chainId: number;
}): ReactNode => {
  const name = useNames().ofAddress(address, chainId);
  return (
    <span className="inline-flex items-center gap-1.5">
      <AddressMark value={address} />
      {name === undefined ? null : <span className="font-medium">{name}</span>}
    </span>
  );
};

interface CounterpartyProps {
  readonly address: string | null;
  /** Whether to show the full address below the name. */
  readonly full?: boolean;
}

export const Counterparty = ({ address, full = false }: CounterpartyProps): ReactNode => {
  const nameOf = useNames().inList;
  if (address === null) {
    return (
      <span className="text-fg-3" title="The chain records no sender of native coins">
        Unknown sender
      </span>
    );
  }
  return (
    <span className="inline-flex min-w-0 items-center gap-2 align-middle">
      <AddressMark value={address} />
      <Address value={address} name={nameOf(address)} mark={false} full={full} />
    </span>
  );
};

"use client";

import { useMemo } from "react";
import { useQuery } from "@tanstack/react-query";
import { useContacts } from "@/components/features/contacts/use-contacts";
import { newestOperationsQuery } from "@/components/features/operations/operation";
import { trustedWalletName, useWallets } from "@/components/features/wallets/use-wallets";
import { address as addressSchema } from "@/lib/contracts/common";
import type { RecipientWarningCode } from "@/lib/contracts/warnings";
import {
  createLookAlikes,
  KNOWN_RANKS,
  type KnownAddress,
  knownContact,
} from "@/lib/core/look-alike";
import { isSameText } from "@/lib/core/same-text";

export type RecipientView =
  /** Nothing is typed, or the text is not an address yet. */
  | { readonly as: "none" }
  | {
      readonly as: KnownAddress["as"];
      readonly address: string;
      readonly name: string;
      readonly lookAlike: KnownAddress | null;
    }
  /** A recipient that is not among the known addresses. */
  | {
      readonly as: "new";
      readonly address: string;
      readonly name: null;
      readonly lookAlike: KnownAddress | null;
    };

/**
 * The recipient as the project knows it: a wallet of the project, otherwise a contact, otherwise an
 * address that was paid before. A contact that is not approved is shown as such, because anybody
 * can choose its name.
 */
export const recipientView = (typed: string, known: readonly KnownAddress[]): RecipientView => {
  const parsed = addressSchema.safeParse(typed.trim());
  if (!parsed.success) return { as: "none" };
  const address = parsed.data;
  const lookAlike = createLookAlikes(known)(address);
  for (const as of KNOWN_RANKS) {
    const match = known.find((one) => one.as === as && isSameText(one.address, address));
    if (match !== undefined) return { as, address, name: match.name, lookAlike };
  }
  return { as: "new", address, name: null, lookAlike };
};

const NOTHING: ReadonlySet<RecipientWarningCode> = new Set();
const FIRST_PAYMENT: ReadonlySet<RecipientWarningCode> = new Set(["first_payment"]);

/**
 * Whether the notes call the address new. They never do so while lists are loading, or for a
 * look-alike, which gets a stronger warning.
 */
export const isCalledNew = (view: RecipientView, complete: boolean): boolean =>
  view.as === "new" && view.lookAlike === null && complete;

/** Codes of the service's warnings that the notes at the typed address already show. */
export const saidByNotes = (
  view: RecipientView,
  complete: boolean,
): ReadonlySet<RecipientWarningCode> => (isCalledNew(view, complete) ? FIRST_PAYMENT : NOTHING);

const STALE_MS = 30_000;

export interface KnownAddresses {
  readonly known: readonly KnownAddress[];
  /** False while a list is loading. Until then, no address may be called new. */
  readonly complete: boolean;
}

/**
 * Wallets of the project, contacts, and recipients of the newest operations.
 *
 * @param chainId the chain of the payment, on which contacts must be approved; null when unknown
 */
export const useKnownAddresses = (chainId: number | null): KnownAddresses => {
  const wallets = useWallets();
  const contacts = useContacts();
  const operations = useQuery({ ...newestOperationsQuery, staleTime: STALE_MS });
  const known = useMemo(() => {
    const paid = new Map<string, number>();
    for (const { quoted, status } of operations.data?.data ?? [])
      if (status === "completed" || status === "partially_completed" || status === "processing")
        paid.set(quoted.to.address, (paid.get(quoted.to.address) ?? 0) + 1);
    return [
      ...(wallets.data?.data ?? []).map((wallet) => ({
        address: wallet.address,
        name: trustedWalletName(wallet),
        as: "own" as const,
      })),
      ...(contacts.data?.data ?? []).map((contact) => knownContact(contact, chainId)),
      ...[...paid].map(([address, times]) => ({
        address,
        name: times === 1 ? "once" : `${String(times)} times`,
        as: "earlier" as const,
      })),
    ];
  }, [wallets.data, contacts.data, operations.data, chainId]);
  return {
    known,
    complete:
      !wallets.isPending &&
      !contacts.isPending &&
      !contacts.hasNextPage &&
      !operations.isPending,
  };
};

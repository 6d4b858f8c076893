"use client";

import type { ReactNode } from "react";
import { AddressGroups } from "@/components/ui/address-groups";
import { AddressMark } from "@/components/ui/address-mark";
import { Amount } from "@/components/ui/amount";
import type { KnownAddress } from "@/lib/core/look-alike";
import { RecipientLine } from "./new/recipient-line";

/** A whole address with its mark, the name that the project knows it by, and a warning where it only looks like a known one. */
export const WalletRecipient = ({
  address,
  known,
}: {
  readonly address: string;
  readonly known: readonly KnownAddress[];
}): ReactNode => (
  <span className="flex items-start gap-2">
    <AddressMark value={address} />
    <span className="min-w-0">
      <AddressGroups value={address} />
      <RecipientLine address={address} known={known} />
    </span>
  </span>
);

/** The name of an account over its whole id. */
export const AccountRecipient = ({
  id,
  name,
}: {
  readonly id: string;
  readonly name: string | undefined;
}): ReactNode => (
  <>
    <span className="block">{name ?? "Account"}</span>
    <code className="block font-mono text-xs break-all text-fg-2">{id}</code>
  </>
);

interface RecipientItemProps {
  readonly who: ReactNode;
  readonly amount: string;
  readonly unit: string;
  readonly reference: string | null;
}

/** A row of a list of payments: recipient and reference at the left, amount at the right. */
export const RecipientItem = ({ who, amount, unit, reference }: RecipientItemProps): ReactNode => (
  <li className="flex flex-wrap items-baseline justify-between gap-x-4 px-3 py-2">
    <span className="min-w-0">
      {who}
      {reference === null ? null : (
        <span className="block text-sm [overflow-wrap:anywhere] text-fg-3">{reference}</span>
      )}
    </span>
    <Amount value={amount} unit={unit} className="ml-auto" />
  </li>
);

"use client";

import type { ReactNode } from "react";
import { Address } from "@/components/ui/address";
import { AddressMark } from "@/components/ui/address-mark";
import { useAddressName } from "./use-address-name";

interface CounterpartyProps {
  /** Null: not known. */
  readonly address: string | null;
  /** The whole address below the name. */
  readonly full?: boolean;
}

/** Who sent a deposit: mark, and name before address. */
export const Counterparty = ({ address, full = false }: CounterpartyProps): ReactNode => {
  const nameOf = useAddressName();
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

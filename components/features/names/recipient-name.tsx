"use client";

import type { ReactNode } from "react";
import { AddressMark } from "@/components/ui/address-mark";
import { useNames } from "./use-names";

/** The mark and the name of an address that stands whole beside it; the mark alone where it has no name. */
export const RecipientName = ({ address }: { readonly address: string }): ReactNode => {
  const name = useNames().ofAddress(address);
  return (
    <span className="inline-flex items-center gap-1.5">
      <AddressMark value={address} />
      {name === undefined ? null : <span className="font-medium">{name}</span>}
    </span>
  );
};

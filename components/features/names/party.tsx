"use client";

import type { ReactNode } from "react";
import { AddressMark } from "@/components/ui/address-mark";
import { useNames } from "./use-names";

/** A wallet of the project, a contact or any other address in a row of a list: mark and name; its title has the whole address. */
export const Party = ({ address }: { readonly address: string }): ReactNode => {
  const { ofAddress, addressName } = useNames();
  const isNamed = ofAddress(address) !== undefined;
  return (
    <span className="inline-flex max-w-48 min-w-0 items-center gap-1.5 align-middle" title={address}>
      <AddressMark value={address} />
      <span className={isNamed ? "truncate" : "font-mono text-sm whitespace-nowrap"}>{addressName(address)}</span>
    </span>
  );
};

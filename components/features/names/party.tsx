"use client";

import type { ReactNode } from "react";
import { AddressMark } from "@/components/ui/address-mark";
import { cn } from "@/components/ui/cn";
import { useNames } from "./use-names";

interface PartyProps {
  readonly address: string;
  readonly className?: string;
}

/** A wallet of the project, a contact or any other address in a row of a list: mark and name; its title has the whole address. */
export const Party = ({ address, className }: PartyProps): ReactNode => {
  const { ofAddress, addressName } = useNames();
  const isNamed = ofAddress(address) !== undefined;
  return (
    <span className={cn("inline-flex max-w-48 min-w-0 items-center gap-1.5 align-middle", className)} title={address}>
      <AddressMark value={address} />
      <span className={isNamed ? "truncate" : "shrink-0 font-mono text-sm whitespace-nowrap"}>
        {addressName(address)}
      </span>
    </span>
  );
};

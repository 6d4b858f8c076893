"use client";

import { KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import { useActorNames, usePersonAddresses } from "@/components/features/audit/use-actor-names";
import { AddressMark } from "@/components/ui/address-mark";
import { CopyButton } from "@/components/ui/copy-button";

/** A person, an API key or a part of the service by name; the id is one click away. */
export const Actor = ({ id }: { readonly id: string }): ReactNode => {
  const nameOf = useActorNames();
  const addresses = usePersonAddresses();
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-1.5 align-middle" title={id}>
      {id.startsWith("key_") ? (
        <KeyRound className="size-4 shrink-0 text-fg-3" aria-hidden />
      ) : (
        <AddressMark value={addresses.get(id) ?? id} />
      )}
      <span className="truncate">{nameOf(id)}</span>
      <CopyButton value={id} label="Copy id" />
    </span>
  );
};

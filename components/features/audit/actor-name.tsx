"use client";

import { KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import { AddressMark } from "@/components/ui/address-mark";
import { CopyButton } from "@/components/ui/copy-button";
import { usePersonAddresses } from "./use-actor-names";

interface ActorNameProps {
  readonly id: string;
  readonly name: string;
}

/** A person, an API key or a part of the service in an entry; the id is one click away. */
export const ActorName = ({ id, name }: ActorNameProps): ReactNode => {
  const addresses = usePersonAddresses();
  return (
    <span className="inline-flex max-w-56 min-w-0 items-center gap-1.5 align-middle" title={id}>
      {id.startsWith("key_") ? (
        <KeyRound className="size-4 shrink-0 text-fg-3" aria-hidden />
      ) : (
        <AddressMark value={addresses.get(id) ?? id} />
      )}
      <span className="truncate">{name}</span>
      <CopyButton value={id} label="Copy id" />
    </span>
  );
};

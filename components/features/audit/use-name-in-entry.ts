"use client";

import { useMe } from "@/components/features/profile/use-me";
import { shorten } from "@/components/ui/address";

/** The actor's name: `You`, an e-mail address, `Key Payroll backend`, or the part of the service. `name` is the entry's own. */
export type NameInEntry = (actor: string, name: string | null) => string;

const HEAD = 8;

export const useNameInEntry = (): NameInEntry => {
  const me = useMe().data;
  return (actor, name) => {
    if (actor === me?.id) return "You";
    if (name === null) return shorten(actor, HEAD);
    if (actor.startsWith("key_")) return `Key ${name}`;
    return name.startsWith("0x") ? shorten(name) : name;
  };
};

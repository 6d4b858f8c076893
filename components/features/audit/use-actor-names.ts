"use client";

import { useMemo } from "react";
import { useMe } from "@/components/features/profile/use-me";
import { useApiQuery } from "@/components/features/session/use-api";
import { shorten } from "@/components/ui/address";
import { listApiKeys, listMembers } from "@/lib/api-client/calls.gen";

/** The addresses by which the members of the project sign in, by the person's id: their marks are drawn of them. */
export const usePersonAddresses = (): ReadonlyMap<string, string> => {
  const members = useApiQuery(listMembers, {}).data;
  return useMemo(() => new Map(members?.data.map(({ userId, address }) => [userId, address])), [members]);
};

/** Names for actors of the audit log: people by address, keys by name. People who left keep their id. */
export const useActorNames = (): ((actor: string) => string) => {
  const me = useMe().data;
  const members = useApiQuery(listMembers, {}).data;
  const keys = useApiQuery(listApiKeys, {}).data;
  const names = new Map<string, string>([["system", "The service"]]);
  for (const { userId, email, address } of members?.data ?? []) names.set(userId, email ?? shorten(address));
  for (const { id, name } of keys?.data ?? []) names.set(id, `Key ${name}`);
  if (me !== undefined) names.set(me.id, "You");
  return (actor) => names.get(actor) ?? shorten(actor, 8);
};

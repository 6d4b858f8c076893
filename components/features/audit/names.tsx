"use client";

import { useMemo } from "react";
import { useApiKeys } from "@/components/features/api-keys/use-api-keys";
import { memberName, useMembers } from "@/components/features/members/use-members";
import { useMe } from "@/components/features/profile/use-me";
import { shorten } from "@/components/ui/address";

/**
 * The sign-in addresses of the project's members, by person id. The icon of a person is drawn from
 * this address.
 */
export const usePersonAddresses = (): ReadonlyMap<string, string> => {
  const members = useMembers().data;
  return useMemo(
    () => new Map(members?.data.map(({ id, address }) => [id, address])),
    [members],
  );
};

/**
 * Names for actors of the audit log: people by display name and address, keys by name. Former
 * members are shown by id.
 */
export const useActorNames = (): ((actor: string) => string) => {
  const me = useMe().data;
  const members = useMembers().data;
  const keys = useApiKeys().data;
  const names = new Map<string, string>([
    ["system", "The service"],
    ["not_me_link", "Link in a mail"],
  ]);
  for (const member of members?.data ?? []) names.set(member.id, memberName(member));
  for (const { id, name } of keys?.data ?? []) names.set(id, `Key ${name}`);
  if (me !== undefined) names.set(me.id, "You");
  return (actor) => names.get(actor) ?? shorten(actor, 8);
};

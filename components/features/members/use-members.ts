import { apiPages } from "@/components/features/session/api-query";
import { useWholeList } from "@/components/features/session/use-lists";
import { shorten } from "@/components/ui/address";
import { listMembers } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { createInvitation, updateMember } from "@/lib/contracts/members";
import type { Role } from "@/lib/core/actor";

/** All members, ordered by the time of joining, the oldest first. */
export const membersQuery = apiPages(listMembers, {});

export const useMembers = () => useWholeList(membersQuery);

export type Member = ResponseOf<typeof updateMember>;
/**
 * The text that names a member: "Ada Lovelace (ada@example.com)". Nothing proves a display name,
 * so the text also contains the verified address, or else the wallet.
 */
export const memberName = ({
  name,
  email,
  address,
}: Pick<Member, "name" | "email" | "address">): string => {
  const proven = email ?? shorten(address);
  return name === null ? proven : `${name} (${proven})`;
};

export type Invitation = ResponseOf<typeof createInvitation>;

/** The roles to choose from, ordered from the most permissions to the fewest. */
export const ROLE_CHOICES: readonly {
  readonly value: Role;
  readonly label: string;
  readonly description: string;
}[] = [
  { value: "owner", label: "Owner", description: "Everything, and makes or removes owners." },
  {
    value: "admin",
    label: "Admin",
    description: "Moves money; manages members, API keys, policies and webhooks.",
  },
  {
    value: "operator",
    label: "Operator",
    description: "Moves money; keeps contacts and wallets.",
  },
  {
    value: "viewer",
    label: "Viewer",
    description: "Sees everything but the audit log. Changes nothing.",
  },
];

/** The roles that a person with this role may assign. Only owners may assign `owner`. */
export const rolesGivenBy = (role: Role): typeof ROLE_CHOICES =>
  role === "owner" ? ROLE_CHOICES : ROLE_CHOICES.filter(({ value }) => value !== "owner");

export const roleName = (role: Role): string =>
  ROLE_CHOICES.find(({ value }) => value === role)?.label ?? role;

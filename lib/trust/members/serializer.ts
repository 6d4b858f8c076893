import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  createInvitation,
  getMemberRemoval,
  listInvitations,
  listMembers,
  lookUpInvitation,
  updateMember,
} from "@/lib/contracts/members";
import type { ListPage } from "@/lib/core/list-place";
import { invitationStatus } from "./member";
import type { InvitationView } from "./invitations";
import type { Invitation, Member, Removal } from "./service";

export const toMember = (member: Member): ResponseOf<typeof updateMember> => ({
  id: member.userId,
  address: member.address as ResponseOf<typeof updateMember>["address"],
  name: member.name,
  email: member.email,
  role: member.role,
  joinedAt: member.joinedAt.toISOString(),
});

export const toRemoval = (removal: Removal): ResponseOf<typeof getMemberRemoval> => ({
  id: removal.member.userId,
  role: removal.member.role,
  apiKeys: removal.keys.map(({ id, name, prefix, last4 }) => ({ id, name, prefix, last4 })),
  webhookEndpoints: removal.endpoints.map(({ id, url, description }) => ({
    id,
    url,
    description,
  })),
  invitations: removal.invitations.map(({ id, email, role }) => ({ id, email, role })),
  payoutSchedules: removal.schedules.map(({ id, reference, chainId, rows }) => ({
    id,
    reference,
    chainId,
    rows,
  })),
});

export const toMembers = ({
  data,
  nextCursor,
}: ListPage<Member>): ResponseOf<typeof listMembers> => ({
  data: data.map(toMember),
  nextCursor,
});

export const toInvitation = (
  invitation: Invitation,
  now: Date,
): ResponseOf<typeof createInvitation> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  status: invitationStatus(invitation, now),
  invitedBy: invitation.invitedBy,
  createdAt: invitation.createdAt.toISOString(),
  expiresAt: invitation.expiresAt.toISOString(),
  acceptedBy: invitation.acceptedBy,
});

export const toInvitations = (
  invitations: readonly Invitation[],
  now: Date,
): ResponseOf<typeof listInvitations> => ({
  data: invitations.map((invitation) => toInvitation(invitation, now)),
});

export const toInvitationView = (
  { invitation, projectName }: InvitationView,
  now: Date,
): ResponseOf<typeof lookUpInvitation> => {
  const { email, role, status, expiresAt } = toInvitation(invitation, now);
  return { email, role, status, expiresAt, projectName };
};

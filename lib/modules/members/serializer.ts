import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  createInvitation,
  listInvitations,
  listMembers,
  lookUpInvitation,
  updateMember,
} from "@/lib/contracts/members";
import { invitationStatus } from "./invitation";
import type { InvitationView } from "./invitations";
import type { Invitation, Member } from "./service";

export const toMember = (member: Member): ResponseOf<typeof updateMember> => ({
  userId: member.userId,
  address: member.address as ResponseOf<typeof updateMember>["address"],
  email: member.email,
  role: member.role,
  joinedAt: member.joinedAt.toISOString(),
});

export const toMembers = (members: readonly Member[]): ResponseOf<typeof listMembers> => ({
  data: members.map(toMember),
});

export const toInvitation = (invitation: Invitation, now: Date): ResponseOf<typeof createInvitation> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  status: invitationStatus(invitation, now),
  invitedBy: invitation.invitedBy,
  createdAt: invitation.createdAt.toISOString(),
  expiresAt: invitation.expiresAt.toISOString(),
  acceptedBy: invitation.acceptedBy,
});

export const toInvitations = (invitations: readonly Invitation[], now: Date): ResponseOf<typeof listInvitations> => ({
  data: invitations.map((invitation) => toInvitation(invitation, now)),
});

export const toInvitationView = (
  { invitation, projectName }: InvitationView,
  now: Date,
): ResponseOf<typeof lookUpInvitation> => {
  const { email, role, status, expiresAt } = toInvitation(invitation, now);
  return { email, role, status, expiresAt, projectName };
};

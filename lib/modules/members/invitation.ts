import type { Role } from "@/lib/core/actor";
import { storedRole } from "./member";

/** An invitation to join a project. It is bound to the e-mail address that it was mailed to. */
export interface Invitation {
  readonly id: string;
  readonly projectId: string;
  /** In lower case. */
  readonly email: string;
  readonly role: Role;
  /** The member who invited. */
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
  readonly acceptedBy: string | null;
  readonly withdrawnAt: Date | null;
}

export type InvitationStatus = "open" | "accepted" | "withdrawn" | "expired";

/** A row of the table `invitation`. */
interface StoredInvitation extends Omit<Invitation, "role"> {
  readonly role: string;
}

/** @throws ZodError when the stored role is none */
export const parseInvitation = (row: StoredInvitation): Invitation => ({
  id: row.id,
  projectId: row.projectId,
  email: row.email,
  role: storedRole.parse(row.role),
  invitedBy: row.invitedBy,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  acceptedAt: row.acceptedAt,
  acceptedBy: row.acceptedBy,
  withdrawnAt: row.withdrawnAt,
});

export const invitationStatus = (invitation: Invitation, now: Date): InvitationStatus => {
  if (invitation.acceptedAt !== null) return "accepted";
  if (invitation.withdrawnAt !== null) return "withdrawn";
  return invitation.expiresAt <= now ? "expired" : "open";
};

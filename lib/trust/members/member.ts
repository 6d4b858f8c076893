import { z } from "zod";
import { type Role, ROLES } from "@/lib/core/actor";

export interface Member {
  readonly userId: string;
  /** Sign-in wallet of the person, checksummed. */
  readonly address: string;
  readonly name: string | null;
  /** E-mail address of the person; null until one is verified. */
  readonly email: string | null;
  readonly role: Role;
  readonly joinedAt: Date;
}

interface StoredMember {
  readonly userId: string;
  readonly role: string;
  readonly createdAt: Date;
  readonly user: {
    readonly address: string;
    readonly name: string | null;
    readonly email: string | null;
    readonly emailVerifiedAt: Date | null;
  };
}

const storedRole = z.enum(ROLES);

/** @throws ZodError when the stored role is unknown */
export const parseMember = ({ userId, role, createdAt, user }: StoredMember): Member => ({
  userId,
  address: user.address,
  name: user.name,
  email: user.emailVerifiedAt === null ? null : user.email,
  role: storedRole.parse(role),
  joinedAt: createdAt,
});

/** An invitation to join a project. It is bound to the e-mail address to which it was mailed. */
export interface Invitation {
  readonly id: string;
  readonly projectId: string;
  /** In lower case. */
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
  readonly acceptedBy: string | null;
  readonly withdrawnAt: Date | null;
}

type InvitationStatus = "open" | "accepted" | "withdrawn" | "expired";

interface StoredInvitation extends Omit<Invitation, "role"> {
  readonly role: string;
}

/** @throws ZodError when the stored role is unknown */
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

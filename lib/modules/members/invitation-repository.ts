import type { Role } from "@/lib/core/actor";
import type { Queryable, Tx } from "@/lib/db/client";
import { parseInvitation, type Invitation } from "./invitation";

interface NewInvitation extends Pick<
  Invitation,
  "id" | "projectId" | "email" | "role" | "invitedBy" | "createdAt" | "expiresAt"
> {
  readonly tokenHash: Uint8Array<ArrayBuffer>;
}

export const insertInvitation = async (tx: Tx, invitation: NewInvitation): Promise<Invitation> =>
  parseInvitation(await tx.invitation.create({ data: invitation }));

/** At most `limit`, newest first. */
export const listInvitations = async (db: Queryable, projectId: string, limit: number): Promise<Invitation[]> => {
  const rows = await db.invitation.findMany({
    where: { projectId },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: limit,
  });
  return rows.map(parseInvitation);
};

export const findByToken = async (db: Queryable, tokenHash: Uint8Array<ArrayBuffer>): Promise<Invitation | null> => {
  const row = await db.invitation.findUnique({ where: { tokenHash } });
  return row === null ? null : parseInvitation(row);
};

/** Withdraws the open invitations of the address in the project: the newest one alone is good. */
export const withdrawEarlier = async (
  tx: Tx,
  { projectId, email, at }: { readonly projectId: string; readonly email: string; readonly at: Date },
): Promise<void> => {
  await tx.invitation.updateMany({
    where: { projectId, email, acceptedAt: null, withdrawnAt: null },
    data: { withdrawnAt: at },
  });
};

/** @returns null when the project has no such invitation, or it is not open any more */
export const withdrawInvitation = async (
  tx: Tx,
  { projectId, id, at }: { readonly projectId: string; readonly id: string; readonly at: Date },
): Promise<Invitation | null> => {
  const { count } = await tx.invitation.updateMany({
    where: { projectId, id, acceptedAt: null, withdrawnAt: null },
    data: { withdrawnAt: at },
  });
  return count === 1 ? parseInvitation(await tx.invitation.findUniqueOrThrow({ where: { id } })) : null;
};

export const findInvitation = async (db: Queryable, projectId: string, id: string): Promise<Invitation | null> => {
  const row = await db.invitation.findFirst({ where: { projectId, id } });
  return row === null ? null : parseInvitation(row);
};

/** Withdraws what a person invited to these roles: an invitation ends when its author could not make it any more. */
export const withdrawInvitationsBy = async (
  tx: Tx,
  {
    projectId,
    userId,
    roles,
    at,
  }: { readonly projectId: string; readonly userId: string; readonly roles: readonly Role[]; readonly at: Date },
): Promise<void> => {
  await tx.invitation.updateMany({
    where: { projectId, invitedBy: userId, role: { in: [...roles] }, acceptedAt: null, withdrawnAt: null },
    data: { withdrawnAt: at },
  });
};

/** Compare-and-set: false when it is not open any more. */
export const acceptInvitation = async (
  tx: Tx,
  { id, userId, at }: { readonly id: string; readonly userId: string; readonly at: Date },
): Promise<boolean> => {
  const { count } = await tx.invitation.updateMany({
    where: { id, acceptedAt: null, withdrawnAt: null, expiresAt: { gt: at } },
    data: { acceptedAt: at, acceptedBy: userId },
  });
  return count === 1;
};

import type { Role } from "@/lib/core/actor";
import type { ListPlace } from "@/lib/core/list-place";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { table, text } from "@/lib/platform/db/table";
import { type Invitation, type Member, parseInvitation, parseMember } from "./member";
import { isSameMailbox } from "@/lib/core/mailbox";

const PERSON = {
  user: { select: { address: true, name: true, email: true, emailVerifiedAt: true } },
} as const;

/**
 * At most `limit`, the oldest membership first.
 * @param after time of joining and id of the last person of the previous page
 */
export const listMembers = async (
  db: Queryable,
  projectId: string,
  { limit, after = null }: { readonly limit: number; readonly after?: ListPlace | null },
): Promise<Member[]> => {
  const beyond = after && {
    OR: [{ createdAt: { gt: after.key } }, { createdAt: after.key, userId: { gt: after.id } }],
  };
  const rows = await db.membership.findMany({
    where: { projectId, ...beyond },
    include: PERSON,
    orderBy: [{ createdAt: "asc" }, { userId: "asc" }],
    take: limit,
  });
  return rows.map(parseMember);
};

export const findMember = async (
  db: Queryable,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
): Promise<Member | null> => {
  const row = await db.membership.findUnique({
    where: { projectId_userId: { projectId, userId } },
    include: PERSON,
  });
  return row === null ? null : parseMember(row);
};

const projects = table({ name: text });

/**
 * Serialises changes to the members of a project until the transaction ends.
 * @returns the project's name
 */
export const lockProject = async (tx: Tx, projectId: string): Promise<string | null> => {
  const project = await projects.first(
    sqlOf(tx),
    sql`SELECT name FROM project WHERE id = ${projectId} FOR UPDATE`,
  );
  return project?.name ?? null;
};

export const countOwners = (tx: Tx, projectId: string): Promise<number> =>
  tx.membership.count({ where: { projectId, role: "owner" } });

export const countMembers = (tx: Tx, projectId: string): Promise<number> =>
  tx.membership.count({ where: { projectId } });

export const insertMember = async (
  tx: Tx,
  member: {
    readonly projectId: string;
    readonly userId: string;
    readonly role: Role;
    readonly createdAt: Date;
  },
): Promise<void> => {
  await tx.membership.create({ data: member });
};

export const setRole = async (
  tx: Tx,
  {
    projectId,
    userId,
    from,
    to,
  }: Record<"projectId" | "userId", string> & Record<"from" | "to", Role>,
): Promise<boolean> => {
  const { count } = await tx.membership.updateMany({
    where: { projectId, userId, role: from },
    data: { role: to },
  });
  return count === 1;
};

export const deleteMember = async (
  tx: Tx,
  projectId: string,
  userId: string,
): Promise<boolean> => {
  const { count } = await tx.membership.deleteMany({ where: { projectId, userId } });
  return count === 1;
};

export const renameProject = async (tx: Tx, projectId: string, name: string): Promise<void> => {
  await tx.project.update({ where: { id: projectId }, data: { name } });
  await tx.membership.updateMany({ where: { projectId }, data: { placeholder: false } });
};

export const readProjectName = async (db: Queryable, projectId: string): Promise<string> => {
  const { name } = await db.project.findUniqueOrThrow({
    where: { id: projectId },
    select: { name: true },
  });
  return name;
};

interface NewInvitation extends Pick<
  Invitation,
  "id" | "projectId" | "email" | "role" | "invitedBy" | "createdAt" | "expiresAt"
> {
  readonly tokenHash: Uint8Array<ArrayBuffer>;
}

export const insertInvitation = async (
  tx: Tx,
  invitation: NewInvitation,
): Promise<Invitation> => parseInvitation(await tx.invitation.create({ data: invitation }));

/** At most `limit` invitations of the project, newest first. */
export const listInvitations = async (
  db: Queryable,
  projectId: string,
  limit: number,
): Promise<Invitation[]> => {
  const rows = await db.invitation.findMany({
    where: { projectId },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: limit,
  });
  return rows.map(parseInvitation);
};

export const findByToken = async (
  db: Queryable,
  tokenHash: Uint8Array<ArrayBuffer>,
): Promise<Invitation | null> => {
  const row = await db.invitation.findUnique({ where: { tokenHash } });
  return row === null ? null : parseInvitation(row);
};

/**
 * Withdraws the open invitations of the mailbox in the project, because only the newest one is
 * valid.
 */
export const withdrawEarlier = async (
  tx: Tx,
  {
    projectId,
    email,
    at,
  }: { readonly projectId: string; readonly email: string; readonly at: Date },
): Promise<void> => {
  const open = { projectId, acceptedAt: null, withdrawnAt: null };
  const rows = await tx.invitation.findMany({ where: open, select: { id: true, email: true } });
  const ids = rows.flatMap((row) => (isSameMailbox(row.email, email) ? [row.id] : []));
  if (ids.length > 0)
    await tx.invitation.updateMany({
      where: { ...open, id: { in: ids } },
      data: { withdrawnAt: at },
    });
};

/**
 * Withdraws an open invitation.
 * @returns null when the project has no such invitation, or it is no longer open
 */
export const withdrawInvitation = async (
  tx: Tx,
  { projectId, id, at }: { readonly projectId: string; readonly id: string; readonly at: Date },
): Promise<Invitation | null> => {
  const { count } = await tx.invitation.updateMany({
    where: { projectId, id, acceptedAt: null, withdrawnAt: null },
    data: { withdrawnAt: at },
  });
  return count === 1
    ? parseInvitation(await tx.invitation.findUniqueOrThrow({ where: { id } }))
    : null;
};

export const findInvitation = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<Invitation | null> => {
  const row = await db.invitation.findFirst({ where: { projectId, id } });
  return row === null ? null : parseInvitation(row);
};

interface InvitedBy {
  readonly projectId: string;
  readonly userId: string;
  readonly roles: readonly Role[];
  readonly at: Date;
}

const openOf = ({ projectId, userId, roles }: InvitedBy) => ({
  projectId,
  invitedBy: userId,
  role: { in: [...roles] },
  acceptedAt: null,
  withdrawnAt: null,
});

/** Open invitations that a person made to one of the roles in `by`, oldest first. */
export const listInvitationsBy = async (
  db: Queryable,
  by: InvitedBy,
): Promise<Invitation[]> => {
  const where = { ...openOf(by), expiresAt: { gt: by.at } };
  const rows = await db.invitation.findMany({
    where,
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
  return rows.map(parseInvitation);
};

/**
 * Withdraws the open invitations that a person made to one of the roles in `by`, because an
 * invitation ends when its author could no longer make it.
 */
export const withdrawInvitationsBy = async (tx: Tx, by: InvitedBy): Promise<void> => {
  await tx.invitation.updateMany({ where: openOf(by), data: { withdrawnAt: by.at } });
};

/** Compare-and-set: returns false when the invitation is no longer open. */
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

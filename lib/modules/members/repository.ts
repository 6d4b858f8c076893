import type { Role } from "@/lib/core/actor";
import type { Queryable, Tx } from "@/lib/db/client";
import { parseMember, type Member } from "./member";

const PERSON = { user: { select: { address: true, email: true, emailVerifiedAt: true } } } as const;

/** At most `limit`, the oldest membership first. */
export const listMembers = async (db: Queryable, projectId: string, limit: number): Promise<Member[]> => {
  const rows = await db.membership.findMany({
    where: { projectId },
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

/** Makes changes to the members of a project follow each other until the transaction ends. @returns the project's name */
export const lockProject = async (tx: Tx, projectId: string): Promise<string | null> => {
  const rows = await tx.$queryRaw<{ name: string }[]>`SELECT name FROM project WHERE id = ${projectId} FOR UPDATE`;
  return rows[0]?.name ?? null;
};

export const countOwners = (tx: Tx, projectId: string): Promise<number> =>
  tx.membership.count({ where: { projectId, role: "owner" } });

export const countMembers = (tx: Tx, projectId: string): Promise<number> =>
  tx.membership.count({ where: { projectId } });

export const insertMember = async (
  tx: Tx,
  member: { readonly projectId: string; readonly userId: string; readonly role: Role; readonly createdAt: Date },
): Promise<void> => {
  await tx.membership.create({ data: member });
};

export const setRole = async (
  tx: Tx,
  { projectId, userId, from, to }: Record<"projectId" | "userId", string> & Record<"from" | "to", Role>,
): Promise<boolean> => {
  const { count } = await tx.membership.updateMany({ where: { projectId, userId, role: from }, data: { role: to } });
  return count === 1;
};

export const deleteMember = async (tx: Tx, projectId: string, userId: string): Promise<boolean> => {
  const { count } = await tx.membership.deleteMany({ where: { projectId, userId } });
  return count === 1;
};

export const renameProject = async (tx: Tx, projectId: string, name: string): Promise<void> => {
  await tx.project.update({ where: { id: projectId }, data: { name } });
};

export const readProjectName = async (db: Queryable, projectId: string): Promise<string> => {
  const { name } = await db.project.findUniqueOrThrow({ where: { id: projectId }, select: { name: true } });
  return name;
};

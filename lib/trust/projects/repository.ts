import type { Role } from "@/lib/core/actor";
import { oncePerMailbox } from "@/lib/core/mailbox";
import type { Queryable } from "@/lib/platform/db/client";

export interface Membership {
  readonly projectId: string;
  readonly name: string;
  readonly role: Role;
  /** True when the sign-in of an invited person created the project, and nobody has renamed it. */
  readonly placeholder: boolean;
}

interface NewProject {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly placeholder: boolean;
  readonly createdAt: Date;
}

export const insertProject = async (
  db: Queryable,
  { id, name, ownerId, placeholder, createdAt }: NewProject,
): Promise<void> => {
  await db.project.create({
    data: {
      id,
      name,
      createdAt,
      memberships: { create: { userId: ownerId, role: "owner", placeholder, createdAt } },
    },
  });
};

/** At most `limit` memberships of the person, the oldest first and a placeholder last. */
export const listMemberships = async (
  db: Queryable,
  userId: string,
  limit: number,
): Promise<Membership[]> => {
  const rows = await db.membership.findMany({
    where: { userId },
    select: {
      projectId: true,
      role: true,
      placeholder: true,
      project: { select: { name: true } },
    },
    orderBy: [{ placeholder: "asc" }, { createdAt: "asc" }, { projectId: "asc" }],
    take: limit,
  });
  return rows.map((row) => ({
    projectId: row.projectId,
    name: row.project.name,
    role: row.role as Role,
    placeholder: row.placeholder,
  }));
};

/** The name that people gave to the project, or its id when the project is gone. */
export const projectName = async (db: Queryable, projectId: string): Promise<string> =>
  (await db.project.findUnique({ where: { id: projectId }, select: { name: true } }))?.name ??
  projectId;

/** Verified addresses of the project's owners, at most `limit`. */
export const listOwnerEmails = async (
  db: Queryable,
  projectId: string,
  limit: number,
): Promise<string[]> => {
  const rows = await db.membership.findMany({
    where: {
      projectId,
      role: "owner",
      user: { email: { not: null }, emailVerifiedAt: { not: null } },
    },
    select: { user: { select: { email: true } } },
    orderBy: { createdAt: "asc" },
    take: limit,
  });
  // Two owners may have the same address, which gets only one mail.
  return oncePerMailbox(rows.flatMap(({ user }) => (user.email === null ? [] : [user.email])));
};

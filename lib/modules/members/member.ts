import { z } from "zod";
import { ROLES, type Role } from "@/lib/core/actor";

/** A person who belongs to a project. */
export interface Member {
  readonly userId: string;
  /** The wallet that the person signs in with, checksummed. */
  readonly address: string;
  /** null until the person has verified one. */
  readonly email: string | null;
  readonly role: Role;
  readonly joinedAt: Date;
}

/** A row of the table `membership` with its person. */
interface StoredMember {
  readonly userId: string;
  readonly role: string;
  readonly createdAt: Date;
  readonly user: { readonly address: string; readonly email: string | null; readonly emailVerifiedAt: Date | null };
}

export const storedRole = z.enum(ROLES);

/** @throws ZodError when the stored role is none */
export const parseMember = ({ userId, role, createdAt, user }: StoredMember): Member => ({
  userId,
  address: user.address,
  email: user.emailVerifiedAt === null ? null : user.email,
  role: storedRole.parse(role),
  joinedAt: createdAt,
});

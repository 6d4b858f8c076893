import type { Queryable } from "@/lib/db/client";

export type ApprovalMeans = "code" | "signature" | "totp" | "recovery_code" | "passkey";

export interface Approval {
  readonly id: string;
  readonly projectId: string;
  /** Who asked, and alone may approve. */
  readonly userId: string;
  readonly kind: string;
  /** SHA-256 of the exact change, the project and the person. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly message: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly consumedAt: Date | null;
}

export const insertApproval = async (db: Queryable, approval: Omit<Approval, "consumedAt">): Promise<void> => {
  await db.approval.create({ data: approval });
};

/** The approval that the person requested in the project; null when another person requested it. */
export const findApproval = (
  db: Queryable,
  { projectId, userId, id }: Pick<Approval, "projectId" | "userId" | "id">,
): Promise<Approval | null> => db.approval.findFirst({ where: { projectId, userId, id } });

/** Uses the approval up for exactly this change. Of any number of callers at once, one gets true. */
export const consumeApproval = async (
  db: Queryable,
  { id, projectId, userId, digest, by, now }: Approval & { by: ApprovalMeans; now: Date },
): Promise<boolean> => {
  const where = { projectId, id, userId, digest, consumedAt: null, expiresAt: { gt: now } };
  const { count } = await db.approval.updateMany({ where, data: { consumedAt: now, consumedBy: by } });
  return count === 1;
};

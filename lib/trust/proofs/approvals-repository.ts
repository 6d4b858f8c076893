import type { ChangeKind, Proof } from "@/lib/contracts/approvable-changes";
import type { Queryable } from "@/lib/platform/db/client";

export interface Approval {
  readonly id: string;
  readonly projectId: string;
  /** The person who requested the approval; only this person may approve. */
  readonly userId: string;
  readonly kind: string;
  /** SHA-256 of the exact change, the project and the person. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly message: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly consumedAt: Date | null;
}

export const insertApproval = async (
  db: Queryable,
  approval: Omit<Approval, "consumedAt"> & { readonly kind: ChangeKind },
): Promise<void> => {
  await db.approval.create({ data: approval });
};

/** The approval that the person requested in the project; null when another person requested it. */
export const findApproval = (
  db: Queryable,
  { projectId, userId, id }: Pick<Approval, "projectId" | "userId" | "id">,
): Promise<Approval | null> => db.approval.findFirst({ where: { projectId, userId, id } });

/** Uses the approval for exactly this change. Of several concurrent callers only one gets true. */
export const consumeApproval = async (
  db: Queryable,
  { id, projectId, userId, digest, by, now }: Approval & { by: Proof; now: Date },
): Promise<boolean> => {
  const where = { projectId, id, userId, digest, consumedAt: null, expiresAt: { gt: now } };
  const { count } = await db.approval.updateMany({
    where,
    data: { consumedAt: now, consumedBy: by },
  });
  return count === 1;
};

import type { Queryable } from "@/lib/platform/db/client";

export type SubjectType = "operation" | "payout";

/** Memo and tags of an operation or a payout. */
export interface Annotation {
  readonly projectId: string;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  /** Empty when there is no memo. */
  readonly memo: string;
  readonly tags: readonly string[];
  readonly updatedBy: string;
  readonly updatedAt: Date;
}

interface StoredAnnotation extends Omit<Annotation, "subjectType"> {
  readonly subjectType: string;
}

const parseAnnotation = (row: StoredAnnotation): Annotation => ({
  ...row,
  subjectType: row.subjectType === "payout" ? "payout" : "operation",
});

export const findAnnotations = async (
  db: Queryable,
  projectId: string,
  subjectIds: readonly string[],
): Promise<Annotation[]> => {
  const subjectType = { in: ["operation", "payout"] };
  const rows = await db.annotation.findMany({
    where: { projectId, subjectType, subjectId: { in: [...subjectIds] } },
  });
  return rows.map(parseAnnotation);
};

export const upsertAnnotation = async (
  db: Queryable,
  annotation: Annotation,
): Promise<void> => {
  const { projectId, subjectType, subjectId, memo, updatedBy, updatedAt } = annotation;
  const content = { memo, tags: [...annotation.tags], updatedBy, updatedAt };
  await db.annotation.upsert({
    where: { projectId_subjectType_subjectId: { projectId, subjectType, subjectId } },
    create: { projectId, subjectType, subjectId, ...content },
    update: content,
  });
};

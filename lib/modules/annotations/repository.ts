import type { Queryable } from "@/lib/db/client";
import type { SqlReader } from "@/lib/db/sql";
import type { Annotation, SubjectType } from "./annotation";

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
  const rows = await db.annotation.findMany({ where: { projectId, subjectType, subjectId: { in: [...subjectIds] } } });
  return rows.map(parseAnnotation);
};

export const upsertAnnotation = async (db: Queryable, annotation: Annotation): Promise<void> => {
  const { projectId, subjectType, subjectId, memo, updatedBy, updatedAt } = annotation;
  const content = { memo, tags: [...annotation.tags], updatedBy, updatedAt };
  await db.annotation.upsert({
    where: { projectId_subjectType_subjectId: { projectId, subjectType, subjectId } },
    create: { projectId, subjectType, subjectId, ...content },
    update: content,
  });
};

// Any case. The primary key bounds the search to the annotations of one project.
const MATCHING = `
  SELECT subject_id FROM annotation
  WHERE project_id = $1 AND subject_type = $2
    AND (($3::text IS NOT NULL AND (memo ILIKE $3 OR EXISTS (SELECT 1 FROM unnest(tags) AS one (tag) WHERE one.tag ILIKE $3)))
      OR ($4::text IS NOT NULL AND EXISTS (SELECT 1 FROM unnest(tags) AS one (tag) WHERE lower(one.tag) = lower($4))))
  ORDER BY subject_id DESC LIMIT $5`;

interface Wanted {
  readonly projectId: string;
  readonly subjectType: SubjectType;
  /** A part of the memo or of a tag. */
  readonly part?: string | undefined;
  /** A whole tag. */
  readonly tag?: string | undefined;
}

/** Ids of the newest subjects whose memo or tags match, `limit` at most. */
export const matchingSubjects = async (sql: SqlReader, wanted: Wanted, limit: number): Promise<string[]> => {
  const { projectId, subjectType, part, tag } = wanted;
  const pattern = part === undefined ? null : `%${part.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const rows = await sql.query<{ subject_id: string }>(MATCHING, [projectId, subjectType, pattern, tag ?? null, limit]);
  return rows.map((row) => row.subject_id);
};

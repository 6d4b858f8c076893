import { type Actor, actorName } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import {
  type Annotation,
  findAnnotations,
  type SubjectType,
  upsertAnnotation,
} from "./repository";

/**
 * SQL conditions on a row of `annotation`, for modules whose lists filter by tag or memo. Case does
 * not matter.
 */

/**
 * @param row alias of the table in the statement
 * @param tag a whole tag
 */
export const hasTag = (row: string, tag: string): Statement => sql`
  EXISTS (
    SELECT 1 FROM unnest(${raw(row)}.tags) AS one (tag)
    WHERE lower(one.tag) = lower(${tag}::text)
  )`;

/**
 * @param row alias of the table in the statement
 * @param pattern the result of `patternOf`
 */
export const hasNote = (row: string, pattern: string): Statement => sql`
  (
    ${raw(row)}.memo ILIKE ${pattern}::text
    OR EXISTS (
      SELECT 1 FROM unnest(${raw(row)}.tags) AS one (tag)
      WHERE one.tag ILIKE ${pattern}::text
    )
  )`;

/** A pattern for a part of the memo or of a tag. */
export const patternOf = (part: string): string => `%${part.replaceAll(/[\\%_]/g, "\\$&")}%`;

export type { Annotation } from "./repository";

/** Reads annotations for modules that list the annotated objects. */
export const createAnnotationReads = ({ database }: { readonly database: Database }) => ({
  /** Annotations by the id of the annotated object. */
  of: async (
    projectId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Annotation>> => {
    const found =
      ids.length === 0 ? [] : await findAnnotations(database.prisma, projectId, ids);
    return new Map(found.map((annotation) => [annotation.subjectId, annotation]));
  },
});

export type AnnotationReads = ReturnType<typeof createAnnotationReads>;

export type Access = "read" | "write";

interface AnnotationsDeps {
  readonly database: Database;
  readonly reads: Pick<AnnotationReads, "of">;
  /** Whether the actor may see everything of the project. */
  readonly seesAll: (actor: Actor) => boolean;
  /** Returns the part of `ids` that the actor may read or write, as `to` says. */
  readonly visible: (
    actor: Actor,
    type: SubjectType,
    ids: readonly string[],
    to: Access,
  ) => Promise<ReadonlySet<string>>;
  readonly clock: Clock;
}

const typeOf = (id: string): SubjectType | null =>
  isId("operation", id) ? "operation" : isId("payout", id) ? "payout" : null;

/** Memos and tags that people give to movements of money. They have no effect on the movement. */
export const createAnnotationsService = ({
  database,
  reads,
  seesAll,
  visible,
  clock,
}: AnnotationsDeps) => {
  const visibleAmong = async (
    actor: Actor,
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> => {
    const ofType = (type: SubjectType) =>
      visible(
        actor,
        type,
        ids.filter((id) => typeOf(id) === type),
        "read",
      );
    return new Set([...(await ofType("operation")), ...(await ofType("payout"))]);
  };
  return {
    /** The annotations of these objects, as far as the actor may see them. */
    list: async (actor: Actor, ids: readonly string[]): Promise<Annotation[]> => {
      const shown = seesAll(actor) ? ids : [...(await visibleAmong(actor, ids))];
      return [...(await reads.of(actor.projectId, shown)).values()];
    },
    /** Replaces memo and tags. @throws DomainError `not_found` */
    put: async (
      actor: Actor,
      subjectId: string,
      { memo, tags }: { readonly memo: string; readonly tags: readonly string[] },
    ): Promise<Annotation> => {
      const subjectType = typeOf(subjectId);
      if (subjectType === null) throw notFound();
      if (!(await visible(actor, subjectType, [subjectId], "write")).has(subjectId))
        throw notFound();
      const at = clock.now();
      const { projectId } = actor;
      const annotation = {
        projectId,
        subjectType,
        subjectId,
        memo,
        tags,
        updatedBy: actorName(actor),
        updatedAt: at,
      };
      await database.transaction(async (tx) => {
        await upsertAnnotation(tx, annotation);
        const data = { memo, tags };
        await recordAudit(tx, {
          ...doneBy(actor),
          action: `${subjectType}.annotated`,
          subject: subjectId,
          data,
          at,
        });
      });
      return annotation;
    },
  };
};

export type AnnotationsService = ReturnType<typeof createAnnotationsService>;

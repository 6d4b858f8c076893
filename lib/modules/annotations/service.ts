import { actorName, type Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import type { Annotation, SubjectType } from "./annotation";
import { findAnnotations, upsertAnnotation } from "./repository";

export type { Annotation } from "./annotation";
export { hasNote, hasTag, patternOf } from "./matching";

/** Looks annotations up for modules that list their subjects. */
export const createAnnotationReads = ({ database }: { readonly database: Database }) => ({
  /** Annotations of the subjects, by the subject's id. */
  of: async (projectId: string, ids: readonly string[]): Promise<ReadonlyMap<string, Annotation>> => {
    const found = ids.length === 0 ? [] : await findAnnotations(database.prisma, projectId, ids);
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
  /** The ids among them that the actor may see, or whose memo the actor may write. */
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

/** Memos and tags, which people give to what moved money. They change nothing about it. */
export const createAnnotationsService = ({ database, reads, seesAll, visible, clock }: AnnotationsDeps) => {
  const visibleAmong = async (actor: Actor, ids: readonly string[]): Promise<ReadonlySet<string>> => {
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
    /** Of these subjects, as far as the actor may see them. */
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
      if (!(await visible(actor, subjectType, [subjectId], "write")).has(subjectId)) throw notFound();
      const at = clock.now();
      const { projectId } = actor;
      const annotation = { projectId, subjectType, subjectId, memo, tags, updatedBy: actorName(actor), updatedAt: at };
      await database.transaction(async (tx) => {
        await upsertAnnotation(tx, annotation);
        const data = { memo, tags };
        await recordAudit(tx, { ...doneBy(actor), action: `${subjectType}.annotated`, subject: subjectId, data, at });
      });
      return annotation;
    },
  };
};

export type AnnotationsService = ReturnType<typeof createAnnotationsService>;

/** The list of operations and its file, as an actor may see them. */
import { mayReadPrivate, type Actor } from "@/lib/core/actor";
import type { Annotation, AnnotationReads } from "@/lib/modules/annotations/service";
import type { OperationListRepository } from "./list-repository";
import type { Operation } from "./operation";
import type { OperationFilter } from "./operation-filter";

const EXPORT_PAGE = 500;
const EXPORT_OPERATIONS_MAX = 10_000;

export interface ListingDeps {
  readonly lists: Pick<OperationListRepository, "page">;
  readonly annotations: Pick<AnnotationReads, "of">;
}

/** The filter of a caller's list. */
interface AskedFilter extends OperationFilter {
  /** `exclude` leaves private operations out even for actors who may read them, because a separate page lists those. */
  readonly private?: "exclude" | undefined;
}

/** An operation with the memo and tags that the CSV shows beside it. */
interface AnnotatedOperation {
  readonly operation: Operation;
  readonly annotation: Annotation | null;
}

const shownTo = (actor: Actor, filter: AskedFilter) => ({
  hidesPrivate: filter.private === "exclude" || !mayReadPrivate(actor),
});

export const createListing = (deps: ListingDeps) => {
  const { lists } = deps;

  const list = async (
    projectId: string,
    { cursor, limit, ...filter }: OperationFilter & { cursor?: string | undefined; limit: number },
  ): Promise<{ data: Operation[]; nextCursor: string | null }> => {
    const rows = await lists.page({ projectId, filter, before: cursor, limit: limit + 1 });
    const shown = rows.slice(0, limit);
    const data = shown.flatMap(({ operation }) => operation ?? []);
    return { data, nextCursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
  };

  /** Like `list`, but yields up to 10,000 operations with their annotations, reading page by page. */
  const all = async function* (projectId: string, filter: OperationFilter): AsyncGenerator<AnnotatedOperation> {
    let before: string | undefined;
    for (let read = 0; read < EXPORT_OPERATIONS_MAX; read += EXPORT_PAGE) {
      const rows = await lists.page({ projectId, filter, before, limit: EXPORT_PAGE });
      const operations = rows.flatMap(({ operation }) => operation ?? []);
      const found = await deps.annotations.of(
        projectId,
        operations.map(({ id }) => id),
      );
      yield* operations.map((operation) => ({ operation, annotation: found.get(operation.id) ?? null }));
      if (rows.length < EXPORT_PAGE) return;
      before = rows.at(-1)?.id;
    }
  };

  return {
    /** The operations that the actor may see, newest first. */
    listFor: (actor: Actor, query: Parameters<typeof list>[1] & AskedFilter) =>
      list(actor.projectId, { ...query, ...shownTo(actor, query) }),
    allFor: (actor: Actor, filter: AskedFilter) => all(actor.projectId, { ...filter, ...shownTo(actor, filter) }),
  };
};

import { mayReadPrivate, type Actor } from "@/lib/core/actor";
import {
  createAnnotationReads,
  createAnnotationsService,
  type AnnotationsService,
} from "@/lib/modules/annotations/service";
import { isPrivateKind, type OperationsService } from "@/lib/modules/operations/service";
import type { PayoutsService } from "@/lib/modules/payouts/service";
import type { Platform } from "./platform";

interface Subjects {
  readonly operations: Pick<OperationsService, "getMany">;
  readonly payouts: Pick<PayoutsService, "known">;
}

/** Memos and tags, seen by those who see what they belong to. */
export const buildAnnotations = (
  { database, clock }: Pick<Platform, "database" | "clock">,
  { operations, payouts }: Subjects,
): AnnotationsService => {
  const visibleOperations = async (actor: Actor, ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const found = [...(await operations.getMany(actor.projectId, ids)).values()];
    return new Set(found.filter(({ kind }) => !isPrivateKind(kind) || mayReadPrivate(actor)).map(({ id }) => id));
  };
  return createAnnotationsService({
    database,
    reads: createAnnotationReads({ database }),
    seesAll: mayReadPrivate,
    visible: (actor, type, ids) =>
      type === "operation" ? visibleOperations(actor, ids) : payouts.known(actor.projectId, ids),
    clock,
  });
};

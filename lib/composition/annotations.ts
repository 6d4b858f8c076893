import { type Actor, mayReadPrivate } from "@/lib/core/actor";
import {
  type Access,
  type AnnotationsService,
  createAnnotationReads,
  createAnnotationsService,
} from "@/lib/money/annotations/service";
import { isPrivateKind, type OperationsService } from "@/lib/money/operations/service";
import type { PayoutsService } from "@/lib/money/payouts/service";
import type { Platform } from "./platform";

interface Subjects {
  readonly operations: Pick<OperationsService, "getMany">;
  readonly payouts: Pick<PayoutsService, "known">;
}

/** Memos and tags. Everybody who may see an object may see them. */
export const buildAnnotations = (
  { database, clock }: Pick<Platform, "database" | "clock">,
  { operations, payouts }: Subjects,
): AnnotationsService => {
  const visibleOperations = async (
    actor: Actor,
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> => {
    const found = [...(await operations.getMany(actor.projectId, ids)).values()];
    return new Set(
      found
        .filter(({ kind }) => !isPrivateKind(kind) || mayReadPrivate(actor))
        .map(({ id }) => id),
    );
  };
  // The routes require the scope of operations. For a payout a key also needs the scope of payouts.
  const mayPayouts = (actor: Actor, to: Access): boolean =>
    actor.type === "user" || actor.scopes.includes(`payouts:${to}`);
  const visiblePayouts = (
    actor: Actor,
    ids: readonly string[],
    to: Access,
  ): Promise<ReadonlySet<string>> =>
    mayPayouts(actor, to) ? payouts.known(actor.projectId, ids) : Promise.resolve(new Set());
  return createAnnotationsService({
    database,
    reads: createAnnotationReads({ database }),
    seesAll: (actor) => mayReadPrivate(actor) && mayPayouts(actor, "read"),
    visible: (actor, type, ids, to) =>
      type === "operation" ? visibleOperations(actor, ids) : visiblePayouts(actor, ids, to),
    clock,
  });
};

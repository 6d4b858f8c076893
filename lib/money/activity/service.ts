/** Lists all movements of money, merged from the lists of the modules. */
import type { Actor } from "@/lib/core/actor";
import type { SqlReader } from "@/lib/platform/db/sql";
import type { AnnotationReads } from "@/lib/money/annotations/service";
import type { DepositsService } from "@/lib/money/deposits/service";
import type { LedgerService } from "@/lib/books/ledger/service";
import { isPrivateKind, type Operation } from "@/lib/money/operations/service";
import { readWorths } from "@/lib/trust/policies/service";
import type { PrivateTransfer } from "@/lib/money/privacy/service";
import {
  type ActivityEntry,
  type ActivityFilter,
  activitySources,
  evaluationIdOf,
  mergePages,
  type Movement,
  type SourceDeps,
  worthOfMovement,
} from "./movements";

const EXPORT_PAGE = 500;
const EXPORT_MAX = 10_000;

export interface ActivityDeps extends SourceDeps {
  readonly ledger: Pick<LedgerService, "fundings" | "accountNames">;
  readonly deposits: Pick<DepositsService, "ofOperations">;
  readonly privacy: {
    ofOperations(
      projectId: string,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, PrivateTransfer>>;
  };
  readonly annotations: Pick<AnnotationReads, "of">;
  readonly reader: SqlReader;
}

export interface ActivityQuery extends ActivityFilter {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

const operationsAmong = (movements: readonly Movement[]): Operation[] =>
  movements.flatMap((movement) => (movement.type === "operation" ? [movement.operation] : []));

const accountsAmong = (movements: readonly Movement[]): string[] =>
  movements.flatMap((movement) => {
    if (movement.type !== "payout") return [];
    const { payout, recipient } = movement.payout;
    return [
      ...(payout.sourceAccountId === null ? [] : [payout.sourceAccountId]),
      ...(recipient?.type === "account" ? [recipient.accountId] : []),
    ];
  });

/** Reads the data of other modules about the movements of a page, with one query per module. */
const withDetails = async (
  deps: ActivityDeps,
  projectId: string,
  movements: readonly Movement[],
): Promise<ActivityEntry[]> => {
  const operations = operationsAmong(movements);
  const privateIds = operations.filter(({ kind }) => isPrivateKind(kind)).map(({ id }) => id);
  const noted = movements.filter(({ type }) => type !== "funding").map(({ id }) => id);
  const [deposits, transfers, annotations, worths, accountNames] = await Promise.all([
    deps.deposits.ofOperations(projectId, operations),
    deps.privacy.ofOperations(projectId, privateIds),
    deps.annotations.of(projectId, noted),
    readWorths(
      deps.reader,
      projectId,
      movements.flatMap((movement) => evaluationIdOf(movement) ?? []),
    ),
    deps.ledger.accountNames(projectId, [...new Set(accountsAmong(movements))]),
  ]);
  return movements.map((movement) => {
    const deposit = deposits.get(movement.id) ?? null;
    const usd = worthOfMovement(movement, { deposit, worths });
    const [transfer, annotation] = [
      transfers.get(movement.id) ?? null,
      annotations.get(movement.id) ?? null,
    ];
    return { movement, deposit, transfer, annotation, usd, accountNames };
  });
};

/** Creates the service that lists operations, payouts and fundings in one list. */
export const createActivityService = (deps: ActivityDeps) => {
  const sources = activitySources(deps);

  const list = async (
    actor: Actor,
    { cursor, limit, ...filter }: ActivityQuery,
  ): Promise<{ data: ActivityEntry[]; nextCursor: string | null }> => {
    const pages = await Promise.all(
      sources.map((read) => read(actor, { filter, before: cursor, limit })),
    );
    const { movements, next } = mergePages(pages, limit);
    return { data: await withDetails(deps, actor.projectId, movements), nextCursor: next };
  };

  return {
    /**
     * The movements that the actor may see, newest first. They are sorted by the UUIDv7 in their
     * ids, which sorts by time of creation.
     */
    list,
    /** Yields the newest 10,000 movements. Each page is read when the caller reaches it. */
    all: async function* (actor: Actor, filter: ActivityFilter): AsyncGenerator<ActivityEntry> {
      let cursor: string | undefined;
      for (let read = 0; read < EXPORT_MAX; read += EXPORT_PAGE) {
        const { data, nextCursor } = await list(actor, {
          ...filter,
          cursor,
          limit: EXPORT_PAGE,
        });
        yield* data;
        if (nextCursor === null) return;
        cursor = nextCursor;
      }
    },
  };
};

export type ActivityService = ReturnType<typeof createActivityService>;

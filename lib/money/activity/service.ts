/** Lists and sums all movements of money, merged from the lists of the modules. */
import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import type { SqlReader } from "@/lib/platform/db/sql";
import type { AnnotationReads } from "@/lib/money/annotations/service";
import type { DepositsService } from "@/lib/money/deposits/service";
import type { LedgerService } from "@/lib/books/ledger/service";
import {
  isPrivateKind,
  type Operation,
  type OperationsService,
} from "@/lib/money/operations/service";
import type { PayoutActivity } from "@/lib/money/payouts/service";
import { readWorths } from "@/lib/trust/policies/service";
import type { PrivateTransfer } from "@/lib/money/privacy/service";
import { createActivityRepository } from "./repository";
import { type ActivitySearch, createSummary, selectionOf, type SelectionDeps } from "./summary";
import {
  type ActivityEntry,
  activitySources,
  evaluationIdOf,
  type MergedPage,
  mergePages,
  type Movement,
  type SourceDeps,
  type SourceQuery,
  uuidOf,
  worthOfMovement,
} from "./movements";

const EXPORT_PAGE = 500;
const EXPORT_MAX = 10_000;

export interface ActivityDeps extends SourceDeps, SelectionDeps {
  readonly operations: Pick<OperationsService, "listFor" | "conditionFor">;
  readonly payouts: Pick<PayoutActivity, "page" | "condition">;
  readonly clock: Clock;
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

export interface ActivityQuery extends ActivitySearch {
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

/** Creates the service that lists and sums operations, payouts and fundings. */
export const createActivityService = (deps: ActivityDeps) => {
  const sources = activitySources(deps);
  const repository = createActivityRepository(deps.reader);

  const read = async (actor: Actor, query: SourceQuery): Promise<MergedPage> => {
    const pages = await Promise.all(sources.map((source) => source(actor, query)));
    return mergePages(pages, query.limit);
  };

  /**
   * A page of the movements of one counterparty or asset. The lists of the modules cannot filter
   * by counterparty or asset, so the ids of the movements are read first.
   */
  const readSelected = async (
    actor: Actor,
    { cursor, limit, ...search }: ActivityQuery,
  ): Promise<MergedPage> => {
    const found = await repository.ids(await selectionOf(deps, actor, search), {
      before: cursor,
      limit: limit + 1,
    });
    const ids = found.slice(0, limit);
    const filter = { ids };
    const { movements } = await read(actor, { filter, before: undefined, limit });
    const last = ids.at(-1);
    return {
      movements,
      next: found.length > limit && last !== undefined ? uuidOf(last) : null,
    };
  };

  const list = async (
    actor: Actor,
    query: ActivityQuery,
  ): Promise<{ data: ActivityEntry[]; nextCursor: string | null }> => {
    const { cursor, limit, counterparty, assetId, ...filter } = query;
    const { movements, next } =
      counterparty === undefined && assetId === undefined
        ? await read(actor, { filter, before: cursor, limit })
        : await readSelected(actor, query);
    return { data: await withDetails(deps, actor.projectId, movements), nextCursor: next };
  };

  return {
    /**
     * The movements that the actor may see, newest first. They are sorted by the UUIDv7 in their
     * ids, which sorts by time of creation.
     */
    list,
    /**
     * Sums, in US dollars at the recorded prices, of the movements that `list` shows to the actor.
     * Without statuses in the query, only movements that moved money count. Without times, the
     * last 12 months count.
     */
    summary: createSummary({ ...deps, repository }),
    /**
     * Yields at most 10,000 movements, newest first. A page is read only when the caller reaches
     * it.
     */
    all: async function* (actor: Actor, filter: ActivitySearch): AsyncGenerator<ActivityEntry> {
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

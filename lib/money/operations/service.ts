import { type Actor, mayReadPrivate } from "@/lib/core/actor";
import type { Annotation, AnnotationReads } from "@/lib/money/annotations/service";
import type { OperationListRepository } from "./list-repository";
import type { Operation } from "./operation";
import type { OperationFilter } from "./search";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Clock } from "@/lib/core/clock";
import type { Statement } from "@/lib/platform/db/statement";
import { DomainError, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { isFinal } from "@/lib/core/status";
import type { Ticker } from "@/lib/core/ticker";
import type { Funds, HoldsService } from "@/lib/books/holds/service";
import type { ReservesService } from "@/lib/books/reserves/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import type { EventRepository } from "./state-repository";
import {
  acceptedOperation,
  awaitingOperation,
  type AwaitingOperation,
  heldSources,
  newOperation,
  sponsoredLegs,
  type StartOperation,
} from "./new-operation";
import type { OperationsRepository } from "./repository";
import type { WaitingRepository } from "./waiting-repository";
import { isPrivateKind } from "@/lib/core/movement-kinds";
import { createRefundDecisions, type RefundDecisionDeps } from "./refund-decision";
import { createWatching, type WatchingDeps } from "./watching";

// The list of operations and its CSV file, limited to the operations that an actor may see.

const EXPORT_PAGE = 500;
const EXPORT_OPERATIONS_MAX = 10_000;

interface ListingDeps {
  readonly lists: Pick<OperationListRepository, "page" | "condition">;
  readonly annotations: Pick<AnnotationReads, "of">;
}

interface AskedFilter extends OperationFilter {
  /**
   * `exclude` hides private operations even from actors who may read them, because another page
   * lists them.
   */
  readonly private?: "exclude" | undefined;
}

interface AnnotatedOperation {
  readonly operation: Operation;
  readonly annotation: Annotation | null;
}

const shownTo = (actor: Actor, filter: AskedFilter) => ({
  hidesPrivate: filter.private === "exclude" || !mayReadPrivate(actor),
});

const createListing = (deps: ListingDeps) => {
  const { lists } = deps;

  const list = async (
    projectId: string,
    {
      cursor,
      limit,
      ...filter
    }: OperationFilter & { cursor?: string | undefined; limit: number },
  ): Promise<{ data: Operation[]; nextCursor: string | null }> => {
    const rows = await lists.page({ projectId, filter, before: cursor, limit: limit + 1 });
    const data = rows.slice(0, limit);
    return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
  };

  /** Like `list`, but yields up to 10,000 operations with their annotations, page by page. */
  const all = async function* (
    projectId: string,
    filter: OperationFilter,
  ): AsyncGenerator<AnnotatedOperation> {
    let before: string | undefined;
    for (let read = 0; read < EXPORT_OPERATIONS_MAX; read += EXPORT_PAGE) {
      const operations = await lists.page({ projectId, filter, before, limit: EXPORT_PAGE });
      const found = await deps.annotations.of(
        projectId,
        operations.map(({ id }) => id),
      );
      yield* operations.map((operation) => ({
        operation,
        annotation: found.get(operation.id) ?? null,
      }));
      if (operations.length < EXPORT_PAGE) return;
      before = operations.at(-1)?.id;
    }
  };

  return {
    /** The operations that the actor may see, newest first. */
    listFor: (actor: Actor, query: Parameters<typeof list>[1] & AskedFilter) =>
      list(actor.projectId, { ...query, ...shownTo(actor, query) }),
    /** SQL: whether an operation `o` belongs to the list that `listFor` reads. */
    conditionFor: (actor: Actor, filter: AskedFilter): Promise<Statement> =>
      lists.condition(actor.projectId, { ...filter, ...shownTo(actor, filter) }),
    allFor: (actor: Actor, filter: AskedFilter) =>
      all(actor.projectId, { ...filter, ...shownTo(actor, filter) }),
  };
};

export {
  approveLegless,
  cancelledLegless,
  insertLegless,
  moveLegless,
  type LeglessMove,
  type LeglessOperation,
} from "./waiting-repository";
export { arrivalsOf } from "./list-repository";
export { createOperationSubject } from "./decision-subject";
export { isPrivateKind } from "@/lib/core/movement-kinds";
export { moveDepositOperations, storeDepositOperations } from "./deposit-repository";
export { isRetryable, mayOf, mayRetry, retryableLegs } from "./permissions";
export { retriedMeanwhile } from "./errors";
export type { Claim, Enforce } from "./accept-repository";
export { claimRetry } from "./accept-repository";
export type { NewLeg } from "./new-operation";
export type { Leg } from "./leg";
export type { Operation } from "./operation";
export { type Holding, type Outcome, outcomeOf } from "./outcome";
export { toOperation, toOutcome, toOutcomeRecord } from "./serializer";
export { gasWaitSentence, storedGasWaits, type GasWait } from "./gas-wait";
export { gasWaitColumns, type GasWaitRepository } from "./state-repository";

const EXPIRE_BATCH = 200;

interface OperationsDeps extends Pick<RefundDecisionDeps, "decisions" | "routing"> {
  repository: OperationsRepository;
  lists: OperationListRepository;
  waiting: WaitingRepository;
  holds: HoldsService;
  /** Reads the amounts that the treasury must keep for global accounts. */
  reserves: Pick<ReservesService, "backingOf">;
  sponsorship: Pick<SponsorshipService, "costsOf">;
  clock: Clock;
  annotations: ListingDeps["annotations"];
  events: EventRepository;
  listener: WatchingDeps["listener"];
  ticker: Ticker;
}

const CANNOT_CANCEL = {
  begun:
    "This operation has begun and can no longer be cancelled: its money may be on its way. Follow its record.",
  ended: "This operation has ended; there is nothing to cancel.",
} as const;

/**
 * Accepts an operation, which the workers then drive.
 * @returns null when `claim` returns false, or when the operation no longer awaits approval
 * @throws DomainError `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`,
 * `chain_unavailable`
 */
const start = async (
  deps: OperationsDeps,
  input: StartOperation,
): Promise<Operation | null> => {
  const { repository, holds, reserves, sponsorship, clock } = deps;
  const operationId = input.operationId ?? newId("operation");
  const sources = heldSources(input);
  const costs = await sponsorship.costsOf(sponsoredLegs(input));
  const accept = async (read: readonly Funds[]): Promise<Operation | null> => {
    const [backing, now] = [await reserves.backingOf(input.projectId, sources), clock.now()];
    const rows = newOperation(input, { operationId, costs, now });
    const { claim, enforce } = input;
    const evaluationId = await repository.accept(rows, {
      funds: read,
      backing,
      claim,
      enforce,
      now,
    });
    if (evaluationId === null) return null;
    if (rows.awaited) return repository.find(operationId);
    const operation = acceptedOperation(rows, evaluationId);
    repository.keepAccepted(operation);
    return operation;
  };
  return holds.reserving(sources, accept, input.seen ?? null);
};

/** Accepts operations, and reads them for pages and the API. The driver moves them forward. */
export const createOperationsService = (deps: OperationsDeps) => {
  const { repository, lists, waiting, clock } = deps;

  const get = async (projectId: string, id: string): Promise<Operation> => {
    const operation = isId("operation", id)
      ? await repository.findInProject(projectId, id)
      : null;
    if (operation === null) throw notFound();
    return operation;
  };

  /**
   * Like `get`, but hides private operations from actors who may not read them.
   * @throws DomainError `not_found`
   */
  const getFor = async (actor: Actor, id: string): Promise<Operation> => {
    const operation = await get(actor.projectId, id);
    if (isPrivateKind(operation.kind) && !mayReadPrivate(actor)) throw notFound();
    return operation;
  };

  /** Reads the operations of the project with these ids. The keys of the map are the ids. */
  const getMany = async (
    projectId: string,
    ids: readonly string[],
  ): Promise<Map<string, Operation>> => {
    const found = ids.length === 0 ? [] : await lists.byIds(projectId, ids);
    return new Map(found.map((operation) => [operation.id, operation]));
  };

  /** Stores an operation that a person has to approve before it runs. */
  const startAwaiting = async (input: AwaitingOperation): Promise<Operation> => {
    const operationId = newId("operation");
    const now = clock.now();
    await waiting.insertAwaiting(
      awaitingOperation(input, operationId, now),
      (tx) => input.claim(tx, operationId),
      now,
    );
    return get(input.projectId, operationId);
  };

  /**
   * Cancels an operation that has not begun.
   * @throws DomainError `not_found`, `invalid_state` when it has begun or has ended
   */
  const cancel = async (actor: Actor, id: string): Promise<Operation> => {
    const { projectId } = actor;
    const operation = await get(projectId, id);
    if (await waiting.cancel(operation, actor, clock.now())) return get(projectId, id);
    const found = await get(projectId, id);
    // A repeated request succeeds, because the response to the first request may have been lost.
    if (found.status === "cancelled") return found;
    throw new DomainError(
      "invalid_state",
      CANNOT_CANCEL[isFinal(found.status) ? "ended" : "begun"],
    );
  };

  return {
    start: bindDeps(deps, start),
    /**
     * Records a person's decision about a refund that the chains do not prove; errors as in
     * `createRefundDecisions`.
     */
    decideRefund: createRefundDecisions({ ...deps, getFor }),
    startAwaiting,
    get,
    getFor,
    getMany,
    ...createListing(deps),
    cancel,
    /**
     * Ends an operation that awaits approval, because people rejected the operation or it failed
     * to start.
     */
    endAwaiting: waiting.endAwaiting,
    /**
     * Yields past and future events after `afterSeq` until the operation is final or `signal`
     * aborts.
     */
    events: createWatching(deps).watch,
    /**
     * Expires operations that were not approved in time.
     * @returns how many expired
     */
    expireDue: (): Promise<number> => waiting.expireDue(clock.now(), EXPIRE_BATCH),
  };
};

export type OperationsService = ReturnType<typeof createOperationsService>;

import { mayReadPrivate, type Actor } from "@/lib/core/actor";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { isFinal } from "@/lib/core/status";
import type { Ticker } from "@/lib/core/ticker";
import type { Funds, HoldsService } from "@/lib/modules/holds/service";
import type { ReservesService } from "@/lib/modules/reserves/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { EventRepository } from "./event-repository";
import type { OperationListRepository } from "./list-repository";
import { createListing, type ListingDeps } from "./listing";
import {
  acceptedOperation,
  awaitingOperation,
  claimOf,
  heldSources,
  newOperation,
  sponsoredLegs,
  type AwaitingOperation,
  type StartOperation,
} from "./new-operation";
import type { Operation } from "./operation";
import type { OperationsRepository } from "./repository";
import type { WaitingRepository } from "./waiting-repository";
import { isPrivateKind } from "./private-kinds";
import { createRefundDecisions, type RefundDecisionDeps } from "./refund-decision";
import { claimRetry } from "./retry-repository";
import { createWatching, type WatchingDeps } from "./watching";

export {
  approveLegless,
  cancelledLegless,
  insertLegless,
  moveLegless,
  type LeglessMove,
  type LeglessOperation,
} from "./legless-repository";
export { arrivalsOf, type Arrival } from "./arrival-repository";
export { createOperationSubject } from "./decision-subject";
export { isPrivateKind } from "./private-kinds";
export { moveDepositOperations, storeDepositOperations } from "./deposit-repository";
export { isRetryable, mayOf, mayRetry, retryableLegs } from "./permissions";
export { retriedMeanwhile, UsedMeanwhileError } from "./errors";
export type { Enforce } from "./accept-repository";
export { retryPart } from "./retry-repository";
export type { NewLeg } from "./new-leg";
export type { Leg } from "./leg";
export type { Operation } from "./operation";
export { amountRecord } from "./amount-serializer";
export { toOperation } from "./serializer";
export { gasWaitSentence, storedGasWaits, type GasWait } from "./gas-wait";
export { gasWaitColumns, type GasWaitRepository } from "./gas-wait-repository";

const EXPIRE_BATCH = 200;

export interface OperationsDeps extends Pick<RefundDecisionDeps, "decisions" | "routing"> {
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
  /** Wakes waiting streams. */
  listener: WatchingDeps["listener"];
  ticker: Ticker;
}

const CANNOT_CANCEL = {
  begun: "This operation has begun and can no longer be cancelled: its money may be on its way. Follow its record.",
  ended: "This operation has ended; there is nothing to cancel.",
} as const;

/**
 * Like `getFor`, to show it and nothing else: an operation that another version stored is shown as far as it can be read.
 * @throws DomainError `not_found`
 */
const show = async (
  repository: Pick<OperationsRepository, "findToShow">,
  actor: Actor,
  id: string,
): Promise<Operation> => {
  const operation = isId("operation", id) ? await repository.findToShow(actor.projectId, id) : null;
  if (operation === null || (isPrivateKind(operation.kind) && !mayReadPrivate(actor))) throw notFound();
  return operation;
};

/**
 * Accepts an operation, which the workers then carry on.
 * @returns null when `claim` returns false, or when the operation no longer awaits approval
 * @throws DomainError `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`, `chain_unavailable`
 */
const start = async (deps: OperationsDeps, input: StartOperation): Promise<Operation | null> => {
  const { repository, holds, reserves, sponsorship, clock } = deps;
  const operationId = input.operationId ?? newId("operation");
  const sources = heldSources(input);
  const costs = await sponsorship.costsOf(sponsoredLegs(input));
  const accept = async (read: readonly Funds[]): Promise<Operation | null> => {
    const [backing, now] = [await reserves.backingOf(input.projectId, sources), clock.now()];
    const rows = newOperation(input, { operationId, costs, now });
    const steps = { ...input, claim: claimOf(input, operationId, now) };
    const evaluationId = await repository.accept(rows, { funds: read, backing }, steps, now);
    if (evaluationId === null) return null;
    if (rows.awaited) return repository.find(operationId);
    const operation = acceptedOperation(rows, evaluationId);
    repository.keepAccepted(operation, rows.transferId);
    return operation;
  };
  return holds.reserving(sources, accept, input.seen ?? null);
};

/** Everything that moves money: accepted here, carried on by the driver, shown here. */
export const createOperationsService = (deps: OperationsDeps) => {
  const { repository, lists, waiting, clock } = deps;

  const get = async (projectId: string, id: string): Promise<Operation> => {
    const operation = isId("operation", id) ? await repository.findInProject(projectId, id) : null;
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

  /** The operations of the project with these ids, by id. */
  const getMany = async (projectId: string, ids: readonly string[]): Promise<Map<string, Operation>> => {
    const found = ids.length === 0 ? [] : await lists.byIds(projectId, ids);
    return new Map(found.map((operation) => [operation.id, operation]));
  };

  /** Stores an operation that a person has to approve before it runs. */
  const startAwaiting = async (input: AwaitingOperation): Promise<Operation> => {
    const operationId = newId("operation");
    const now = clock.now();
    await waiting.insertAwaiting(awaitingOperation(input, operationId, now), (tx) => input.claim(tx, operationId), now);
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
    const { status } = await get(projectId, id);
    throw new DomainError("invalid_state", CANNOT_CANCEL[isFinal(status) ? "ended" : "begun"]);
  };

  return {
    start: bindDeps(deps, start),
    /** Records what a person decided about a refund that the chains do not show for certain; errors as in `createRefundDecisions`. */
    decideRefund: createRefundDecisions({ ...deps, getFor }),
    startAwaiting,
    get,
    getFor,
    show: bindDeps(repository, show),
    getMany,
    ...createListing(deps),
    cancel,
    /** Ends an operation that awaits approval, by a decision of people or for a failure of its start. */
    endAwaiting: waiting.endAwaiting,
    /** The distinct recipients of a project's latest operations. */
    recentRecipients: lists.recipients,
    /** Events after `afterSeq`, past and to come, until the operation is final or `signal` aborts. */
    events: createWatching(deps).watch,
    /**
     * Expires operations that were not approved in time.
     * @returns how many
     */
    expireDue: (): Promise<number> => waiting.expireDue(clock.now(), EXPIRE_BATCH),
    /**
     * Records, within the transaction that accepts the retry, that an operation is retried. False when it was retried
     * before.
     */
    claimRetry,
  };
};

export type OperationsService = ReturnType<typeof createOperationsService>;

/**
 * Continues an operation after people have voted on it. An approved operation is run, and a
 * rejected one is ended. Every function can safely be called again.
 */
import type { Clock } from "@/lib/core/clock";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { AuditEntry } from "@/lib/news/audit/service";
import {
  failureAfter,
  type Decided,
  type DecisionSubject,
  type EndedAwaiting,
} from "@/lib/trust/decisions/service";
import type { Actor } from "@/lib/core/actor";
import type { Operation } from "./operation";
import { mayOf } from "./permissions";
import type { Failure } from "./rows";
import type { WaitingRepository } from "./waiting-repository";

/** @typeParam T the operation's parameters, as stored when the operation was requested */
interface DecidedDeps<T extends { readonly digest: Uint8Array }> {
  readonly operations: Pick<WaitingRepository, "endAwaiting"> & {
    /** @throws DomainError `not_found` */
    get(projectId: string, id: string): Promise<Operation>;
  };
  readonly clock: Clock;
  /**
   * Finds the stored parameters. The operation runs only when their digest equals the digest that
   * people approved.
   */
  readonly find: (projectId: string, operationId: string) => Promise<T | null>;
  /**
   * Quotes the operation again, checks it and starts it. Does nothing when the operation no longer
   * awaits approval.
   */
  readonly run: (
    actor: Actor,
    what: T,
    how: { readonly operationId: string; readonly decisionId: string },
  ) => Promise<unknown>;
}

type EndDeps = Pick<DecidedDeps<{ readonly digest: Uint8Array }>, "operations" | "clock">;

interface Ending {
  readonly as: EndedAwaiting;
  readonly failure: Failure | null;
}

/**
 * Ends an operation that awaits approval, with the status `as`. No money has to be released,
 * because such an operation holds none.
 */
const end = (deps: EndDeps, decided: Decided, { as, failure }: Ending): Promise<void> => {
  const { projectId, id, request, decidedBy } = decided;
  const at = deps.clock.now();
  const data = { means: "votes", decisionId: request.id };
  const actor = decidedBy?.userId ?? "service";
  const entry = {
    projectId,
    actor,
    action: `operation.${as}`,
    subject: id,
    data,
    request: null,
    at,
  };
  return deps.operations.endAwaiting(
    { projectId, id },
    { status: as, failure },
    entry satisfies AuditEntry,
  );
};

const waiting = async (
  deps: EndDeps,
  projectId: string,
  id: string,
): Promise<Operation | null> => {
  const operation = await deps.operations.get(projectId, id).catch((error: unknown) => {
    if (isDomainError(error) && error.code === "not_found") return null;
    throw error;
  });
  return operation !== null && mayOf(operation).approve ? operation : null;
};

const begin = async <T extends { readonly digest: Uint8Array }>(
  deps: DecidedDeps<T>,
  { projectId, id, request, decidedBy }: Decided,
): Promise<void> => {
  const found = await deps.find(projectId, id);
  if (decidedBy === null || found === null || !Buffer.from(found.digest).equals(request.digest))
    throw new DomainError(
      "invalid_state",
      "What would be sent is not what was approved. Nothing was sent.",
    );
  await deps.run(decidedBy, found, { operationId: id, decisionId: request.id });
};

/**
 * Starts an operation that was approved. Ends it as failed when it cannot start.
 * @throws DomainError for an outage; the job then tries again until the operation expires
 */
const approved = async <T extends { readonly digest: Uint8Array }>(
  deps: DecidedDeps<T>,
  decided: Decided,
): Promise<void> => {
  const operation = await waiting(deps, decided.projectId, decided.id);
  if (operation === null) return;
  try {
    await begin(deps, decided);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    const failure = failureAfter(error, {
      expiresAt: operation.expiresAt,
      now: deps.clock.now(),
    });
    if (failure === null) throw error;
    await end(deps, decided, { as: "failed", failure });
  }
};

const onDecided = async <T extends { readonly digest: Uint8Array }>(
  deps: DecidedDeps<T>,
  decided: Decided,
): Promise<void> => {
  switch (decided.outcome) {
    case "approved":
      return approved(deps, decided);
    case "declined":
      return end(deps, decided, { as: "cancelled", failure: null });
    case "expired":
      return end(deps, decided, { as: "expired", failure: null });
  }
};

const check = async (
  deps: EndDeps,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> => {
  if ((await waiting(deps, projectId, id)) !== null) return;
  throw new DomainError(
    "invalid_state",
    "This operation does not await approval any more. Your vote was not counted.",
  );
};

export const createOperationSubject = <T extends { readonly digest: Uint8Array }>(
  deps: DecidedDeps<T>,
): DecisionSubject => ({
  check: (about) => check(deps, about),
  onDecided: (decided) => onDecided(deps, decided),
});

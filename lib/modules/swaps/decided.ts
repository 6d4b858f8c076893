/** Carries on an operation that people of the project have decided by vote, or ends it. Each function may be called again. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Clock } from "@/lib/core/clock";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { AuditEntry } from "@/lib/modules/audit/service";
import { failureAfter, type Decided, type DecisionSubject } from "@/lib/modules/decisions/service";
import { mayOf, type Operation, type OperationsService } from "@/lib/modules/operations/service";
import type { Quote, QuotesService } from "@/lib/modules/quotes/service";
import type { Actor } from "@/lib/core/actor";
import type { Proof } from "./execute";

interface DecidedDeps {
  readonly operations: Pick<OperationsService, "get" | "endAwaiting">;
  readonly quotes: Pick<QuotesService, "findByOperation">;
  readonly clock: Clock;
  /** Prices the quote again with its promised minimum, simulates and starts it. Null when the operation does not wait any more. */
  readonly run: (actor: Actor, quote: Quote, how: Proof & { readonly operationId: string }) => Promise<unknown>;
}

interface Ending {
  readonly as: "cancelled" | "expired";
  readonly failure: { readonly code: string; readonly message: string; readonly retryable: boolean } | null;
}

/** Ends an operation that has sent nothing and holds no money. */
const end = (deps: DecidedDeps, decided: Decided, { as, failure }: Ending): Promise<void> => {
  const { projectId, id, request, decidedBy } = decided;
  const at = deps.clock.now();
  const data = { means: "votes", decisionId: request.id };
  const entry = { projectId, actor: decidedBy?.userId ?? "service", action: `operation.${as}`, subject: id, data, at };
  return deps.operations.endAwaiting(id, { status: as, failure }, entry satisfies AuditEntry);
};

const waiting = async (deps: DecidedDeps, projectId: string, id: string): Promise<Operation | null> => {
  const operation = await deps.operations.get(projectId, id).catch((error: unknown) => {
    if (isDomainError(error) && error.code === "not_found") return null;
    throw error;
  });
  return operation !== null && mayOf(operation).approve ? operation : null;
};

const begin = async (deps: DecidedDeps, { projectId, id, request, decidedBy }: Decided): Promise<void> => {
  const quote = await deps.quotes.findByOperation(projectId, id);
  if (decidedBy === null || quote === null || !Buffer.from(quote.digest).equals(request.digest))
    throw new DomainError("invalid_state", "What would be sent is not what was approved. Nothing was sent.");
  await deps.run(decidedBy, quote, { operationId: id, decisionId: request.id });
};

/** @throws DomainError an outage, after which the job tries again until the operation expires */
const approved = async (deps: DecidedDeps, decided: Decided): Promise<void> => {
  const operation = await waiting(deps, decided.projectId, decided.id);
  if (operation === null) return;
  try {
    await begin(deps, decided);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    const failure = failureAfter(error, { expiresAt: operation.expiresAt, now: deps.clock.now() });
    if (failure === null) throw error;
    await end(deps, decided, { as: "expired", failure });
  }
};

const onDecided = async (deps: DecidedDeps, decided: Decided): Promise<void> => {
  switch (decided.outcome) {
    case "approved":
      return approved(deps, decided);
    case "declined":
      return end(deps, decided, { as: "cancelled", failure: null });
    case "expired":
      return end(deps, decided, { as: "expired", failure: null });
  }
};

const check = async (deps: DecidedDeps, { projectId, id }: { projectId: string; id: string }): Promise<void> => {
  if ((await waiting(deps, projectId, id)) !== null) return;
  throw new DomainError("invalid_state", "This operation does not await approval any more. Your vote was not counted.");
};

export const createOperationSubject = (deps: DecidedDeps): DecisionSubject => ({
  check: bindDeps(deps, check),
  onDecided: bindDeps(deps, onDecided),
});

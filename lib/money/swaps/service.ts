import type { Actor } from "@/lib/core/actor";
import type { Approvable } from "@/lib/money/authorize/service";
import type { Subject } from "@/lib/money/quotes/service";
import { createAuthorization, type AuthorizationDeps } from "./authorize";
import { createAutoExecute, type AutoExecuteDeps } from "./auto-execute";
import { createExecute } from "./execute";
import { createFunding } from "./funding";
import { createPrepare, type PrepareDeps, subjectField } from "./prepare";
import { createRetry } from "./retry";

export { checkNothingSent } from "./prepare";
export type { FundingService } from "./funding";

export type SwapsDeps = AuthorizationDeps & PrepareDeps & AutoExecuteDeps;

type Startable = Subject & { readonly operationId?: string | undefined };

/**
 * Moves the money of a quote: one-time code → prepare → execute, or in one call when a policy
 * allows it. Read the files in this order: authorize, prepare, execute, auto-execute, retry,
 * funding.
 */
export const createSwapsService = (deps: SwapsDeps) => {
  const { quotes } = deps;
  const authorization = createAuthorization(deps);
  const prepare = createPrepare(deps, authorization);
  const execute = createExecute(deps, authorization);
  const autoExecute = createAutoExecute(deps, { authorization, prepare, execute });

  return {
    /**
     * The part of an open quote or transfer that a person approves with a one-time code.
     * @throws DomainError `not_found`, `insufficient_scope`, `quote_expired`, `quote_already_used`
     */
    approvable: async (actor: Actor, subject: Subject): Promise<Approvable> => {
      const quote = await quotes.getOpen(actor, subject);
      return authorization.approvableOf(actor, quote, quote.id);
    },

    /**
     * Checks that the actor may still start the movement and pay its recipient.
     * @throws DomainError `not_found`, `insufficient_scope`, `recipient_not_allowed`
     */
    checkCaller: async (actor: Actor, subject: Startable): Promise<void> => {
      const { operationId } = subject;
      const { kind, request } =
        operationId === undefined
          ? await quotes.get(actor, subject)
          : await deps.operations.get(actor.projectId, operationId);
      authorization.requireScopeOf(actor, { kind });
      authorization.checkRecipient(actor, request, subjectField(subject));
    },

    prepare: prepare.prepare,
    execute: execute.execute,
    swapAndTransfer: autoExecute.start,
    awaiting: autoExecute.awaiting,
    /**
     * The functions by which the decisions service continues an operation after people have voted
     * on it.
     */
    subject: autoExecute.subject,
    retry: createRetry(deps, authorization).retry,
    /** For payouts: moves money of the project between its chains. */
    funding: createFunding(deps, { prepare, execute }),
  };
};

export type SwapsService = ReturnType<typeof createSwapsService>;

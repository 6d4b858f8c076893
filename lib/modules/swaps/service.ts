import type { Actor } from "@/lib/core/actor";
import type { CodeChannel, OtpSent } from "@/lib/modules/otp/service";
import type { Subject } from "@/lib/modules/quotes/service";
import { createAuthorization, type AuthorizationDeps } from "./authorize";
import { createAutoExecute, type AutoExecuteDeps } from "./auto-execute";
import { createExecute } from "./execute";
import { createFunding } from "./funding";
import { createPrepare, subjectField, type PrepareDeps } from "./prepare";
import { createRetry } from "./retry";

export { checkNothingSent } from "./resume-guard";
export type { FundingService } from "./funding";

export type SwapsDeps = AuthorizationDeps & PrepareDeps & AutoExecuteDeps;

/** A stored quote, or the operation that awaits approval. */
type Approvable = Subject & { readonly operationId?: string | undefined };

/**
 * Moves the money of a quote: one-time code → prepare → execute, and in one call where a policy allows it. The order of reading is
 * authorize, prepare, execute, auto-execute, retry, funding.
 */
export const createSwapsService = (deps: SwapsDeps) => {
  const { quotes } = deps;
  const authorization = createAuthorization(deps);
  const prepare = createPrepare(deps, authorization);
  const execute = createExecute(deps, authorization);
  const autoExecute = createAutoExecute(deps, { authorization, prepare, execute });

  return {
    /**
     * Sends the one-time code that approves a quote, a transfer or a waiting operation.
     * @throws DomainError `not_found`, `insufficient_scope`, `quote_expired`, `quote_already_used`
     */
    requestCode: async (
      actor: Actor,
      { operationId, ...subject }: Approvable,
      channel?: CodeChannel,
    ): Promise<OtpSent> => {
      if (operationId !== undefined) return autoExecute.requestCode(actor, operationId, channel);
      const quote = await quotes.getOpen(actor, subject);
      return authorization.sendCode(actor, quote, { subjectId: quote.id, channel });
    },

    /**
     * Refuses an actor that may no longer pay the recipient.
     * @throws DomainError `not_found`, `recipient_not_allowed`
     */
    checkRecipient: async (actor: Actor, subject: Approvable): Promise<void> => {
      const { operationId } = subject;
      const request =
        operationId === undefined
          ? (await quotes.get(actor, subject)).request
          : (await deps.operations.get(actor.projectId, operationId)).request;
      authorization.checkRecipient(actor, request, subjectField(subject));
    },

    prepare: prepare.prepare,
    execute: execute.execute,
    swapAndTransfer: autoExecute.start,
    approve: autoExecute.approve,
    /** For requests on which people vote. */
    subject: autoExecute.subject,
    retry: createRetry(deps, authorization).retry,
    /** For payouts: moves the project's own money between its chains. */
    funding: createFunding(deps, { prepare, execute }),
  };
};

export type SwapsService = ReturnType<typeof createSwapsService>;

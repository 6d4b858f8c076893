import type { Actor } from "@/lib/core/actor";
import type { OtpSent } from "@/lib/modules/otp/service";
import { createApproving, type ApprovingDeps } from "./approving";
import { createAtOnce, type AtOnceDeps } from "./at-once";
import { createExecuting } from "./executing";
import { createFunding } from "./funding";
import { createQuoteLoader } from "./loading";
import { storedRouteRequest } from "@/lib/ports/routing-json";
import { createPreparing, subjectField, type PreparingDeps } from "./preparing";
import { createPricing } from "./pricing";
import type { QuoteRecord } from "./record";
import type { Subject } from "./repository";
import { resolveRequest, type QuoteInput } from "./request";
import { createRetrying } from "./retrying";
import { createTransferring } from "./transferring";

export type { FundingService } from "./funding";
export type { QuoteRecord } from "./record";
export type { QuoteRow } from "./repository";
export type { TransferInput } from "./transferring";

export type QuotesDeps = AtOnceDeps & PreparingDeps & ApprovingDeps;

/** Quote or transfer → one-time code → prepare → execute; and everything at once where a policy allows it. */
export const createQuotesService = (deps: QuotesDeps) => {
  const pricing = createPricing(deps);
  const loading = createQuoteLoader(deps);
  const approving = createApproving(deps, pricing);
  const preparing = createPreparing(deps, { pricing, approving, loading });
  const executing = createExecuting(deps, { pricing, approving, loading });
  const atOnce = createAtOnce(deps, { pricing, approving, preparing, executing });

  return {
    /**
     * Prices a movement from the project's wallets.
     * @throws DomainError for every field at fault, `recipient_not_allowed`, `no_route`, `insufficient_liquidity`, `chain_unavailable`
     */
    create: async (actor: Actor, input: QuoteInput): Promise<QuoteRecord> => {
      const resolved = await resolveRequest(deps, actor.projectId, input);
      approving.checkRecipient(actor, resolved.route, "toAddress");
      return (await pricing.store(actor, resolved, { kind: "swap" })).record;
    },

    /** Sends the code that approves a quote, a transfer or a waiting operation. */
    requestCode: async (
      actor: Actor,
      { operationId, ...subject }: Subject & { operationId?: string | undefined },
    ): Promise<OtpSent> => {
      if (operationId !== undefined) return atOnce.requestCode(actor, operationId);
      const quote = await loading.open(actor, subject);
      return approving.sendCode(actor, quote, quote.id);
    },

    /**
     * Whether the actor may still pay whom this pays.
     * @throws DomainError `not_found`, `recipient_not_allowed`
     */
    checkRecipient: async (actor: Actor, subject: Subject & { operationId?: string | undefined }): Promise<void> => {
      const { operationId } = subject;
      const { request } =
        operationId === undefined
          ? await loading.any(actor, subject)
          : await deps.operations.get(actor.projectId, operationId);
      approving.checkRecipient(actor, storedRouteRequest.parse(request), subjectField(subject));
    },

    /** Brings money of the project's wallets to one of its chains, as a part of something else. */
    funding: createFunding(deps, { pricing, preparing, executing, loading }),
    prepare: preparing.prepare,
    execute: executing.execute,
    transfers: createTransferring(deps, { pricing, approving, loading }),
    swapAndTransfer: atOnce.start,
    approve: atOnce.approve,
    retry: createRetrying(deps, { pricing, approving }).retry,
  };
};

export type QuotesService = ReturnType<typeof createQuotesService>;

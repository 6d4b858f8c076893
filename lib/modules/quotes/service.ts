import type { Actor } from "@/lib/core/actor";
import { routeIntent, type PolicyEngine, type PoliciesService } from "@/lib/modules/policies/service";
import { findEarlierQuote } from "./idempotency";
import { createQuoteLoader } from "./load-quote";
import { createPricing, type PricingDeps } from "./pricing";
import type { Quote } from "./quote";
import { usedQuotePart, type IdempotencyUse, type QuotesRepository } from "./repository";
import { resolveRequest, type FieldNames, type QuoteInput, type ResolvedRequest } from "./request";
import type { QuoteRecord } from "./serializer";

export { idempotencyUseOf } from "./idempotency";
export { quoteUsed } from "./errors";
export { endOf } from "./load-quote";
export { preparedSeconds } from "./prepared-leg";
export type { OwnerLeg, PermitLeg, PreparedLeg, WalletLeg } from "./prepared-leg";
export type { PricedRoute, QuoteDraft, QuotePurpose } from "./pricing";
export type { Quote } from "./quote";
export type { IdempotencyUse, Subject } from "./repository";
export { unknownWallet } from "./errors";
export { QUOTE_FIELDS } from "./request";
export type { FieldNames, ResolvedRequest, SourceWallet } from "./request";
export { expectedOut, minimumOut, withMinimum } from "./minimum";
export type { PriceCheck } from "./price-check";
export { approvalAddresses, approvalLines, toDestination, toTokenRecord } from "./serializer";
export type { FeePayer, QuoteRecord } from "./serializer";

export interface QuotesDeps extends PricingDeps {
  policies: Pick<PoliciesService, "checkRecipient">;
  policyEngine: Pick<PolicyEngine, "refuse">;
}

/**
 * Quotes: requests that were priced and stored. Swaps and transfers prepare and execute them; each state change is a compare-and-set
 * against the quote that the caller read.
 */
export const createQuotesService = (deps: QuotesDeps) => {
  const { repository } = deps;
  const pricing = createPricing(deps);
  const loader = createQuoteLoader(deps);

  const refuse = async (
    actor: Actor,
    { kind, resolved }: { readonly kind: string; readonly resolved: ResolvedRequest },
  ): Promise<void> => {
    const { route: request, wallets } = resolved;
    const intent = routeIntent(actor, { kind, request, wallets });
    await deps.policyEngine.refuse(intent, { isFirst: true });
  };

  return {
    ...pricing,

    /** Refuses what the policies deny before it is priced. @throws DomainError `policy_violation` */
    refuse,

    /**
     * Prices a swap from the project's wallets and stores the quote.
     * @throws DomainError for every field at fault, `recipient_not_allowed`, `policy_violation`, `no_route`, `insufficient_liquidity`, `chain_unavailable`
     */
    create: async (actor: Actor, input: QuoteInput): Promise<QuoteRecord> => {
      const resolved = await resolveRequest(deps, actor.projectId, input);
      deps.policies.checkRecipient(actor, resolved.route.destination.recipient, "toAddress");
      await refuse(actor, { kind: "swap", resolved });
      return (await pricing.store(actor, resolved, { kind: "swap" })).record;
    },

    /** Names of tokens, wallets and amounts to what a route is priced with. `fields` names the caller's fields in errors. */
    resolve: (projectId: string, input: QuoteInput, fields: FieldNames): Promise<ResolvedRequest> =>
      resolveRequest(deps, projectId, input, fields),

    get: loader.any,
    getOpen: loader.open,
    find: repository.find,
    findByOperation: repository.findByOperation,
    listTransfers: repository.listTransfers,

    /** The quote that the same call stored before. @throws DomainError `idempotency_mismatch` */
    findEarlier: (use: { actor: Actor; kind: string; idempotency: IdempotencyUse | null }): Promise<Quote | null> =>
      findEarlierQuote(repository, use),

    noteCodeSent: repository.codeSent,
    approve: repository.approve,
    markPrepared: repository.markPrepared,
    claim: repository.claim,
    claimPart: repository.claimPart,
    usedPart: usedQuotePart,
    claimOpen: repository.claimOpen,
    cancel: repository.cancel,
  };
};

export type QuotesService = ReturnType<typeof createQuotesService>;
export type { QuotesRepository };

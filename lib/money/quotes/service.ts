import type { Actor } from "@/lib/core/actor";
import {
  routeIntent,
  type PolicyEngine,
  type PoliciesService,
  votesOf,
} from "@/lib/trust/policies/service";
import {
  createPricing,
  createQuoteLoader,
  findEarlierQuote,
  type PricingDeps,
} from "./pricing";
import type { Quote } from "./quote";
import type { IdempotentRequest } from "@/lib/platform/db/idempotency-keys";
import type { QuotesRepository } from "./repository";
import {
  type FieldNames,
  type QuoteInput,
  type ResolvedRequest,
  resolveRequest,
} from "./request";
import { type QuoteRecord, toVotes } from "./serializer";

export { quoteUsed } from "./errors";
export { endOf } from "./pricing";
export { preparedSeconds } from "./quote";
export type { OwnerLeg, PermitLeg, PreparedLeg, WalletLeg } from "./quote";
export type { PricedRoute, QuoteDraft, QuotePurpose } from "./pricing";
export type { Quote } from "./quote";
export type { Subject } from "./repository";
export type { TransferFilter } from "./repository";
export { unknownWallet } from "./errors";
export { QUOTE_FIELDS } from "./request";
export type { FieldNames, ResolvedRequest, SourceWallet } from "./request";
export { expectedOut, minimumOut, withMinimum } from "./price-check";
export type { PriceCheck } from "./price-check";
export { approvalAddresses, approvalLines, toDestination, toVotes } from "./serializer";
export type { FeePayer, QuoteRecord } from "./serializer";

export interface QuotesDeps extends PricingDeps {
  policies: Pick<PoliciesService, "checkRecipient">;
  policyEngine: Pick<PolicyEngine, "refuse">;
}

/**
 * Quotes are requests that were priced and stored. Swaps and transfers prepare and execute them;
 * each state change is a compare-and-set against the quote that the caller read.
 */
export const createQuotesService = (deps: QuotesDeps) => {
  const { repository } = deps;
  const pricing = createPricing(deps);
  const loader = createQuoteLoader(deps);

  const refuse = async (
    actor: Actor,
    { kind, resolved }: { readonly kind: string; readonly resolved: ResolvedRequest },
  ): Promise<QuoteRecord["votes"]> => {
    const { route: request, wallets } = resolved;
    const intent = routeIntent(actor, { kind, request, wallets });
    return toVotes(votesOf(await deps.policyEngine.refuse(intent, { isFirst: true })));
  };

  return {
    ...pricing,

    /**
     * Evaluates the policies for a request before it is priced.
     * @returns the votes that the request needs now; null when the code of one person suffices
     * @throws DomainError `policy_violation`
     */
    refuse,

    /**
     * Prices a swap from the project's wallets and stores the quote.
     * @throws DomainError for every faulty field, `recipient_not_allowed`, `policy_violation`,
     * `no_route`, `insufficient_liquidity`, `chain_unavailable`
     */
    create: async (actor: Actor, input: QuoteInput): Promise<QuoteRecord> => {
      const resolved = await resolveRequest(deps, actor.projectId, input);
      deps.policies.checkRecipient(actor, resolved.route.destination.recipient, "toAddress");
      const votes = await refuse(actor, { kind: "swap", resolved });
      return (await pricing.store(actor, resolved, { kind: "swap", votes })).record;
    },

    /**
     * Resolves token names, wallets and decimal amounts to the request from which a route is
     * priced. `fields` contains the caller's field names, for errors.
     */
    resolve: (
      projectId: string,
      input: QuoteInput,
      fields: FieldNames,
    ): Promise<ResolvedRequest> => resolveRequest(deps, projectId, input, fields),

    get: loader.any,
    getOpen: loader.open,
    find: repository.find,
    findByOperation: repository.findByOperation,
    listTransfers: repository.listTransfers,

    /**
     * The quote that an earlier call with the same Idempotency-Key stored; null when there is
     * none.
     * @throws DomainError `idempotency_mismatch`
     */
    findEarlier: (use: {
      actor: Actor;
      kind: string;
      idempotency: IdempotentRequest | null;
    }): Promise<Quote | null> => findEarlierQuote(repository, use),

    noteCodeSent: repository.codeSent,
    approve: repository.approve,
    markPrepared: repository.markPrepared,
    claim: repository.claim,
    insertUsed: repository.insertUsed,
    claimOpen: repository.claimOpen,
    cancel: repository.cancel,
  };
};

export type QuotesService = ReturnType<typeof createQuotesService>;
export type { QuotesRepository };

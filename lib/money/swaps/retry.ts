import type { Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { doneBy, type AuditEntry } from "@/lib/news/audit/service";
import {
  isPrivateKind,
  type Leg,
  mayRetry,
  type Operation,
  type OperationsService,
  retryableLegs,
} from "@/lib/money/operations/service";
import type { RouteRequest, RouteSource } from "@/lib/core/route-request";
import type { QuotePurpose, QuoteRecord, QuotesService } from "@/lib/money/quotes/service";
import type { Authorization } from "./authorize";

/**
 * The money that a failed leg left in its wallet: the leg's full amount, or the bridge's refund,
 * which may be in another token.
 */
const leftBy = (leg: Leg, request: RouteRequest): RouteSource => {
  const { routeLeg } = leg;
  const source = request.sources[routeLeg.sourceIndex];
  if (source === undefined) throw new Error(`Leg ${leg.id} has no source.`);
  if (leg.state !== "refunded") return { ...source, amountBase: leg.amountBase };
  const bridged = routeLeg.steps.find(({ kind }) => kind === "bridge");
  const token = leg.refundToken ?? bridged?.from ?? source.token;
  return {
    owner: source.owner,
    token,
    amountBase: leg.refundedBase ?? leg.depositedBase ?? 0n,
  };
};

/**
 * Sums the amounts by wallet and token, because several legs may have left the same token in one
 * wallet.
 */
const sourcesOf = (legs: readonly Leg[], request: RouteRequest): RouteSource[] => {
  const sources = new Map<string, RouteSource>();
  for (const left of legs.map((leg) => leftBy(leg, request))) {
    const key =
      `${left.owner}:${String(left.token.chainId)}:${left.token.address}`.toLowerCase();
    sources.set(key, {
      ...left,
      amountBase: left.amountBase + (sources.get(key)?.amountBase ?? 0n),
    });
  }
  return [...sources.values()].filter(({ amountBase }) => amountBase > 0n);
};

const kindOf = (operation: Operation): QuotePurpose["kind"] =>
  operation.kind === "transfer"
    ? "transfer"
    : operation.kind === "swap_and_transfer"
      ? "swap_and_transfer"
      : "swap";

/**
 * Retries failed or refunded legs with a fresh quote, which is prepared and executed like any
 * other quote. At most one retry is ever executed.
 */
export const createRetry = (
  deps: {
    operations: OperationsService;
    quotes: Pick<QuotesService, "walletsOf" | "refuse" | "store">;
  },
  authorization: Authorization,
) => ({
  /**
   * Prices a retry of the operation's failed and refunded legs, and stores its quote.
   * @throws DomainError `not_found`, `invalid_state`, `unknown_wallet`, `no_route`,
   * `insufficient_liquidity`, `recipient_not_allowed`, `policy_violation`, `insufficient_scope`
   */
  retry: async (actor: Actor, operationId: string): Promise<QuoteRecord> => {
    const operation = await deps.operations.get(actor.projectId, operationId);
    if (operation.retriedBy !== null) {
      throw new DomainError(
        "invalid_state",
        "This operation was tried again already. Nothing was sent now; see the operation in `retriedBy`.",
        {
          extra: { retriedBy: operation.retriedBy },
        },
      );
    }
    const before = operation.request;
    // An ordinary quote would pay the privacy pool without creating a note, so operations of
    // private kinds are not retried here.
    const sources =
      mayRetry(operation) && !isPrivateKind(operation.kind)
        ? sourcesOf(retryableLegs(operation), before)
        : [];
    if (sources.length === 0) {
      throw new DomainError(
        "invalid_state",
        "Nothing of this operation failed or came back, so there is nothing to retry.",
      );
    }
    authorization.requireScopeOf(actor, { kind: kindOf(operation) });
    // The caller's minimum applies to the sum of all sources. The retry may have only some of the
    // sources, so it has no such minimum.
    const limits =
      before.limits === undefined ? undefined : { ...before.limits, minOutBase: undefined };
    const request: RouteRequest = { ...before, sources, limits };
    authorization.checkRecipient(actor, request, "id");
    const wallets = await deps.quotes.walletsOf(actor.projectId, request);
    const audit = (quoteId: string, at: Date): AuditEntry => ({
      ...doneBy(actor),
      action: "operation.retried",
      subject: operation.id,
      data: { quoteId },
      at,
    });
    const kind = kindOf(operation);
    const resolved = { route: request, wallets };
    const votes = await deps.quotes.refuse(actor, { kind, resolved });
    const purpose = { kind, retryOf: operation.id, votes, audit };
    return (await deps.quotes.store(actor, resolved, purpose)).record;
  },
});

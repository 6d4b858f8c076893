import type { GivenCode } from "@/lib/contracts/proofs";
import type { Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Funds, HoldsService } from "@/lib/modules/holds/service";
import type { Route, RouteRequest } from "@/lib/ports/routing";
import {
  endOf,
  preparedSeconds,
  type PricedRoute,
  type Quote,
  type QuotesService,
  type SourceWallet,
  type PriceCheck,
  type Subject,
  toDestination,
  withMinimum,
} from "@/lib/modules/quotes/service";
import { votesFor, type VotesDeps } from "./ask-votes";
import type { Authorization } from "./authorize";
import { simulateRoute, type SimulationDeps } from "./simulate-route";
import { toPrepared } from "./serializer";
import { checkNothingSent, legIdsOf } from "./resume-guard";

const PREPARE_TIMEOUT_MS = 15_000;

export interface PrepareDeps extends SimulationDeps, Pick<VotesDeps, "decisions"> {
  quotes: QuotesService;
  holds: Pick<HoldsService, "require">;
  clock: Clock;
}

/** The sources that the same request has checked, and the route that it has priced. Accepting the operation checks the balances again. */
export interface CheckedSources {
  readonly wallets: readonly SourceWallet[];
  readonly seen: readonly Funds[];
  readonly priced: PricedRoute;
}

/** A quote that was priced again with the promised minimum, and simulated. It can be executed now. */
export interface ExecutableQuote {
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly route: Route;
  readonly others: readonly Route[];
  readonly check: PriceCheck;
  readonly simulated: Awaited<ReturnType<typeof simulateRoute>>;
}

/** The error for a preparation that was not stored: since it was read, the quote was used, cancelled or prepared. */
const refusal = (quote: Quote): DomainError =>
  endOf(quote) ??
  new DomainError(
    "invalid_state",
    "Another call prepared this at the same time, and only its answer says what to sign or send. The service sent nothing. Go on with that answer, or prepare again.",
  );

export const createPrepare = (deps: PrepareDeps, authorization: Authorization) => {
  const { quotes } = deps;

  /** `priceMoved` creates the error for a route that no longer reaches the minimum. */
  const ready = async (
    quote: Quote,
    priceMoved: (request: RouteRequest, wallets: SourceWallet[]) => Promise<DomainError>,
    checked: CheckedSources | null = null,
  ): Promise<ExecutableQuote> => {
    const { request } = quote;
    const wallets = checked === null ? await quotes.walletsOf(quote.projectId, request) : [...checked.wallets];
    if (checked === null) await deps.holds.require(request.sources);
    const { route: priced, others, check } = checked?.priced ?? (await quotes.price(request));
    const route = withMinimum(priced, quote.minimumBase, request.slippageBps);
    if (route === null) throw await priceMoved(request, wallets);
    const signal = AbortSignal.timeout(PREPARE_TIMEOUT_MS);
    const { projectId, kind } = quote;
    const simulated = await simulateRoute(deps, {
      projectId,
      kind,
      request,
      wallets,
      route,
      legIds: legIdsOf(quote),
      signal,
    });
    // A call that has checked its sources accepts the operation at once, and reserves the budget then.
    if (checked === null) await deps.sponsorship.check({ projectId, kind, costs: simulated.costs });
    return { request, wallets, route, others, check, simulated };
  };

  /** Creates a fresh quote of the same kind; for a transfer, a new transfer. */
  const moved =
    (actor: Actor, quote: Quote) =>
    async (request: RouteRequest, wallets: SourceWallet[]): Promise<DomainError> => {
      const kind = quote.kind === "transfer" ? quote.kind : "swap";
      const purpose = { kind, ...(quote.retryOf === null ? {} : { retryOf: quote.retryOf }) } as const;
      const { quote: fresh, record } = await quotes.store(actor, { route: request, wallets }, purpose);
      const message =
        "The price moved: the route no longer brings the minimum that was approved, or hardly more than it. Nothing was sent. A fresh quote is in `quote`.";
      const transfer = fresh.transferId === null ? {} : { transferId: fresh.transferId };
      return new DomainError("quote_price_moved", message, { extra: { quote: record, ...transfer } });
    };

  /**
   * Checks the code or the key's policy, prices again, simulates, and locks the price for 60 s.
   * @throws DomainError `invalid_state` when a wallet has sent transactions of an earlier preparation, or another call
   * prepared the quote at the same time; `otp_*`, `quote_price_moved` with a fresh quote, `insufficient_balance`,
   * `simulation_failed`, `sponsor_budget_exceeded`
   */
  const prepare = async (actor: Actor, subject: Subject, code: GivenCode | undefined) => {
    const quote = await quotes.getOpen(actor, subject);
    authorization.checkRecipient(actor, quote.request, subjectField(subject));
    await checkNothingSent(deps, quote);
    await authorization.admit(actor, quote, code);
    const { request, wallets, route, others, check, simulated } = await ready(quote, moved(actor, quote));
    const { legs, balanceChanges, feePayers, actions } = simulated;
    // Before a wallet signs or sends anything.
    const approvedAt = code === undefined ? quote.approvedAt : deps.clock.now();
    await votesFor(deps, { projectId: quote.projectId, approvedAt }, legs);
    const record = await quotes.recordOf(quote, { request, wallets, route, others, check, feePayers });
    // Checked again, because pricing and simulating take seconds in which a wallet may send transactions of the earlier
    // preparation.
    await checkNothingSent(deps, quote);
    const preparedUntil = addSeconds(deps.clock.now(), preparedSeconds(legs));
    const stored = await quotes.markPrepared(quote, {
      route,
      response: record,
      preparedLegs: legs,
      preparedUntil,
    });
    if (!stored) throw refusal(await quotes.get(actor, subject));
    return toPrepared({ quote, record, to: toDestination(request, route), preparedUntil, balanceChanges, actions });
  };

  return { ready, prepare };
};

/** The field of the request that names the quote or transfer. */
export const subjectField = ({ transferId }: Subject): string => (transferId === undefined ? "quoteId" : "transferId");

export type Prepare = ReturnType<typeof createPrepare>;

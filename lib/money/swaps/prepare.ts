import { DomainError } from "@/lib/core/errors";
import { approvalOf, type SmartAccountsService } from "@/lib/chain/smart-accounts/service";
import {
  endOf,
  type FeePayer,
  type PreparedLeg,
  preparedSeconds,
  type PriceCheck,
  type PricedRoute,
  type Quote,
  type QuoteRecord,
  type QuotesService,
  type SourceWallet,
  type Subject,
  toDestination,
  toVotes,
  type WalletLeg,
  withMinimum,
} from "@/lib/money/quotes/service";
import type { Route, RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import type { GasCost } from "@/lib/books/sponsorship/service";
import { requireUnfrozen } from "@/lib/chain/token-freezes";
import {
  type Action,
  type BalanceChange,
  toActions,
  toBalanceChange,
  toPrepared,
} from "./serializer";
import { prepareLeg, type SimulatedChange, type SimulationDeps } from "./prepare-leg";
import type { GivenCode } from "@/lib/contracts/proofs";
import type { Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { Funds, HoldsService } from "@/lib/books/holds/service";
import { votesOf } from "@/lib/trust/policies/service";
import { requireWaitable } from "./ask-votes";
import type { Authorization } from "./authorize";

/** For each source index, the id that the source's leg had in the quote's previous preparation. */
const legIdsOf = (quote: Quote): ReadonlyMap<number, string> => {
  const { legs } = quote.route;
  return new Map(
    quote.preparedLegs.flatMap(({ legId }, index) => {
      const sourceIndex = legs[index]?.sourceIndex;
      return sourceIndex === undefined ? [] : [[sourceIndex, legId] as const];
    }),
  );
};

/**
 * The wallet's transaction count after the first transaction that is not an approval. That
 * transaction moves money. Infinity when all transactions are approvals.
 */
const countOnceSent = ({ transactions, fromNonce }: WalletLeg): number => {
  const firstMoving = transactions.findIndex((call) => approvalOf(call) === null);
  // Approvals move no money, so any number of them may have been sent.
  return firstMoving === -1 ? Infinity : fromNonce + firstMoving + 1;
};

/**
 * Throws an error when a wallet may have sent one of the quote's transactions. Preparing the quote
 * again would replace these stored transactions.
 * @throws DomainError `invalid_state`, `chain_unavailable`
 */
export const checkNothingSent = async (
  { smartAccounts }: { smartAccounts: Pick<SmartAccountsService, "sent"> },
  quote: Quote,
): Promise<void> => {
  const legs = quote.preparedLegs.filter((leg) => leg.by === "wallet");
  const counts = await Promise.all(
    legs.map(({ chainId, wallet }) => smartAccounts.sent.countPending(chainId, wallet)),
  );
  if (legs.every((leg, index) => (counts[index] ?? 0) < countOnceSent(leg))) return;
  throw new DomainError(
    "invalid_state",
    "The wallet has sent a transaction since this was prepared. Execute with its hash; or ask for a new quote if it was something else.",
  );
};

export type { SimulationDeps } from "./prepare-leg";

/** Adds up the changes that several legs make to one balance. */
const merged = (changes: readonly SimulatedChange[]): SimulatedChange[] => {
  const byBalance = new Map<string, SimulatedChange>();
  for (const change of changes) {
    const key = `${change.wallet}:${String(change.token.chainId)}:${change.token.address}:${change.certainty}`;
    byBalance.set(key, { ...change, base: change.base + (byBalance.get(key)?.base ?? 0n) });
  }
  return [...byBalance.values()];
};

interface RouteSimulation {
  legs: PreparedLeg[];
  balanceChanges: BalanceChange[];
  feePayers: FeePayer[];
  costs: GasCost[];
  /** Actions that the caller's wallets must sign or send, in this order, before execute. */
  actions: Action[];
}

/**
 * Builds and simulates every leg against the current state of the chains. Signs and sends nothing.
 * @throws DomainError `simulation_failed`, `insufficient_balance` (no coins for a network fee),
 * `invalid_request` (a wallet that cannot be a source), `wallet_frozen`, `recipient_frozen`,
 * `sponsor_budget_exceeded` (gas above any limit), `chain_unavailable`
 */
const simulateRoute = async (
  deps: SimulationDeps,
  input: {
    projectId: string;
    kind: string;
    request: RouteRequest;
    wallets: readonly SourceWallet[];
    route: Route;
    legIds: ReadonlyMap<number, string>;
    signal: AbortSignal;
  },
): Promise<RouteSimulation> => {
  const { request, wallets, route } = input;
  const accountOf = ({ sourceIndex }: RouteLeg): string => {
    const source = request.sources[sourceIndex];
    return `${source?.owner ?? ""}:${String(source?.token.chainId)}`;
  };
  const isFirst = (leg: RouteLeg): boolean =>
    route.legs.find((each) => accountOf(each) === accountOf(leg)) === leg;
  // The freeze check runs in parallel with the simulations. When both fail, the error of the
  // freeze check is thrown, because the simulated transfer of a frozen address fails without a
  // reason.
  const unfrozen = requireUnfrozen(deps.freezes, request);
  unfrozen.catch(() => undefined);
  const simulations = await Promise.all(
    route.legs.map((leg) =>
      prepareLeg(deps, {
        ...input,
        leg,
        legId: input.legIds.get(leg.sourceIndex),
        deploys: isFirst(leg),
      }),
    ),
  ).catch(async (error: unknown) => {
    await unfrozen;
    throw error;
  });
  await unfrozen;
  const legs = simulations.map(({ prepared }) => prepared);
  return {
    legs,
    costs: simulations.flatMap(({ cost }) => cost ?? []),
    feePayers: simulations.map(({ cost }) => (cost === null ? "wallet" : "sponsor")),
    balanceChanges: merged(simulations.flatMap(({ changes }) => changes)).map(toBalanceChange),
    actions: route.legs.flatMap((leg, index) => {
      const [wallet, prepared] = [wallets[leg.sourceIndex], legs[index]];
      const source = request.sources[leg.sourceIndex];
      if (!wallet || !prepared || !source)
        throw new Error("A leg names a source that was not asked for.");
      return toActions(prepared, { wallet, chainId: source.token.chainId });
    }),
  };
};

const PREPARE_TIMEOUT_MS = 15_000;

export interface PrepareDeps extends SimulationDeps {
  quotes: QuotesService;
  holds: Pick<HoldsService, "require">;
  clock: Clock;
}

/**
 * Sources that the current request has already checked, and the route that it has priced. The
 * acceptance of the operation checks the balances again.
 */
export interface CheckedSources {
  readonly wallets: readonly SourceWallet[];
  readonly seen: readonly Funds[];
  readonly priced: PricedRoute;
}

/**
 * A quote that was priced again with the promised minimum, and simulated, so that it can be
 * executed now.
 */
interface ExecutableQuote {
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly route: Route;
  readonly others: readonly Route[];
  readonly check: PriceCheck;
  readonly simulated: Awaited<ReturnType<typeof simulateRoute>>;
}

/**
 * The error for a preparation that was not stored, because another call used, cancelled or
 * prepared the quote in the meantime.
 */
const refusal = (quote: Quote): DomainError =>
  endOf(quote) ??
  new DomainError(
    "invalid_state",
    "Another call prepared this at the same time, and only its answer says what to sign or send. The service sent nothing. Go on with that answer, or prepare again.",
  );

export const createPrepare = (deps: PrepareDeps, authorization: Authorization) => {
  const { quotes } = deps;

  /**
   * Prices the quote again with its promised minimum, and simulates it. `priceMoved` creates the
   * error when the route no longer reaches the minimum.
   */
  const ready = async (
    quote: Quote,
    priceMoved: (request: RouteRequest, wallets: SourceWallet[]) => Promise<DomainError>,
    checked: CheckedSources | null = null,
  ): Promise<ExecutableQuote> => {
    const { request } = quote;
    const wallets =
      checked === null
        ? await quotes.walletsOf(quote.projectId, request)
        : [...checked.wallets];
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
    // With `checked`, the sponsor's budget need not be checked here, because the caller accepts the
    // operation next, and the acceptance reserves the budget.
    if (checked === null)
      await deps.sponsorship.check({ projectId, kind, costs: simulated.costs });
    return { request, wallets, route, others, check, simulated };
  };

  /**
   * Creates the error for a moved price. The error contains a fresh quote of the same kind and,
   * for a transfer, a new transfer.
   */
  const moved =
    (actor: Actor, quote: Quote, votes: QuoteRecord["votes"]) =>
    async (request: RouteRequest, wallets: SourceWallet[]): Promise<DomainError> => {
      const kind = quote.kind === "transfer" ? quote.kind : "swap";
      const purpose = {
        kind,
        votes,
        ...(quote.retryOf === null ? {} : { retryOf: quote.retryOf }),
      } as const;
      const { quote: fresh, record } = await quotes.store(
        actor,
        { route: request, wallets },
        purpose,
      );
      const message =
        "The price moved: the route no longer brings the minimum that was approved, or hardly more than it. Nothing was sent. A fresh quote is in `quote`.";
      const transfer = fresh.transferId === null ? {} : { transferId: fresh.transferId };
      return new DomainError("quote_price_moved", message, {
        extra: { quote: record, ...transfer },
      });
    };

  /**
   * Checks the code or the key's policy, prices again, simulates, and locks the price for
   * `preparedSeconds`.
   * @throws DomainError `invalid_state` when a wallet has sent transactions of an earlier
   * preparation, or another call prepared the quote at the same time; `otp_*`, `quote_price_moved`
   * with a fresh quote, `insufficient_balance`, `simulation_failed`, `sponsor_budget_exceeded`
   */
  const prepare = async (actor: Actor, subject: Subject, code: GivenCode | undefined) => {
    const quote = await quotes.getOpen(actor, subject);
    authorization.requireScopeOf(actor, quote);
    authorization.checkRecipient(actor, quote.request, subjectField(subject));
    await checkNothingSent(deps, quote);
    const evaluation = await authorization.admit(actor, quote, code);
    const { approval } = evaluation;
    const { request, wallets, route, others, check, simulated } = await ready(
      quote,
      moved(actor, quote, toVotes(votesOf(evaluation))),
    );
    const { legs, balanceChanges, feePayers, actions } = simulated;
    // The check runs before a wallet signs or sends anything, because signatures would expire
    // during a vote.
    requireWaitable(approval, legs);
    const record = await quotes.recordOf(quote, {
      request,
      wallets,
      route,
      others,
      check,
      feePayers,
    });
    // The check is repeated, because pricing and simulating take seconds in which a wallet may send
    // transactions of the earlier preparation.
    await checkNothingSent(deps, quote);
    const preparedUntil = addSeconds(deps.clock.now(), preparedSeconds(legs));
    const stored = await quotes.markPrepared(quote, {
      route,
      response: record,
      preparedLegs: legs,
      balanceChanges,
      preparedUntil,
    });
    if (!stored) throw refusal(await quotes.get(actor, subject));
    return toPrepared({
      quote,
      record,
      to: toDestination(request, route),
      preparedUntil,
      balanceChanges,
      actions,
    });
  };

  return { ready, prepare };
};

/** The request field that names the quote or transfer. */
export const subjectField = ({ transferId }: Subject): string =>
  transferId === undefined ? "quoteId" : "transferId";

export type Prepare = ReturnType<typeof createPrepare>;

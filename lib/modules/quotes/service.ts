import { z } from "zod";
import { actorName, responsibleUserId, type Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import type { FundsService } from "@/lib/modules/funds/service";
import type { OperationsService } from "@/lib/modules/operations/service";
import type { OtpService } from "@/lib/modules/otp/service";
import type { Route, RouteRequest } from "@/lib/ports/routing";
import { storedGas, storedRouteLeg, storedRouteRequest, toStored } from "@/lib/ports/routing-json";
import { simulateRoute, withMinimum, type PreparedLeg, type SimulationDeps } from "./prepare";
import {
  approvalDigest,
  approvalLines,
  minimumOut,
  toDestination,
  tokenKey,
  toQuoteRecord,
  type QuoteRecord,
} from "./record";
import type { QuoteRow, QuotesRepository } from "./repository";
import { resolveRequest, type QuoteInput, type ResolveDeps, type ResolvedRequest, type SourceWallet } from "./request";

const QUOTE_TTL_SECONDS = 300;
const PREPARED_SECONDS = 60;
const QUOTE_TIMEOUT_MS = 8000;
const PREPARE_TIMEOUT_MS = 15_000;

export interface QuotesDeps extends ResolveDeps, SimulationDeps {
  repository: QuotesRepository;
  funds: FundsService;
  otp: OtpService;
  operations: OperationsService;
  clock: Clock;
}

const storedRoute = z.object({ provider: z.string(), legs: z.array(storedRouteLeg) });
const storedPrepared = z.object({ legs: z.array(z.object({ legId: z.string(), gas: storedGas })) });

const used = (quote: QuoteRow): DomainError =>
  new DomainError("quote_already_used", "This quote was executed already. The money moves once; see the operation.", {
    extra: quote.operationId === null ? {} : { operationId: quote.operationId },
  });

/** Why a quote could not be claimed: somebody used it, or prepared it anew, since it was read. */
const refusal = (quote: QuoteRow): DomainError =>
  quote.status === "used"
    ? used(quote)
    : new DomainError(
        "invalid_state",
        "This quote was prepared anew in the meantime. Nothing was sent; execute again.",
      );

/** Quote → one-time code → prepare → execute. */
export const createQuotesService = (deps: QuotesDeps) => {
  const { repository, clock } = deps;

  const load = async (actor: Actor, quoteId: string): Promise<QuoteRow> => {
    const quote = await repository.find(actor.projectId, quoteId);
    if (quote === null) throw notFound();
    return quote;
  };

  const loadOpen = async (actor: Actor, quoteId: string): Promise<QuoteRow> => {
    const quote = await load(actor, quoteId);
    if (quote.status === "used") throw used(quote);
    if (quote.expiresAt <= clock.now())
      throw new DomainError("quote_expired", "This quote has expired. Ask for a new one; nothing was sent.");
    return quote;
  };

  const walletsOf = async (projectId: string, request: RouteRequest): Promise<SourceWallet[]> => {
    const found = await Promise.all(request.sources.map((source) => deps.wallets.find(projectId, source.owner)));
    if (found.some((wallet) => wallet === null)) {
      throw new DomainError("unknown_wallet", "A source wallet no longer belongs to the project.");
    }
    return found.filter((wallet) => wallet !== null);
  };

  const price = async (request: RouteRequest): Promise<{ route: Route; others: readonly Route[] }> => {
    const [route, ...others] = await deps.routing.quote(request, AbortSignal.timeout(QUOTE_TIMEOUT_MS));
    if (route === undefined) throw new DomainError("no_route", "No way was found from these sources to this token.");
    return { route, others };
  };

  /** Prices are only shown; a quote does not fail for want of one. */
  const pricesOf = async (route: Route): Promise<Map<string, string | null>> => {
    const tokens = route.legs.flatMap((leg) => leg.fees.map((fee) => fee.token));
    const prices = await deps.routing
      .priceUsd(tokens, AbortSignal.timeout(QUOTE_TIMEOUT_MS))
      .catch(() => tokens.map(() => null));
    return new Map(tokens.map((token, index) => [tokenKey(token), prices[index] ?? null]));
  };

  const shortOf = async (request: RouteRequest): Promise<string[]> => {
    const shortfalls = await deps.funds.shortfalls(request.sources).catch(() => []);
    return shortfalls.map(
      ({ source, missingBase }) => `${formatAmount(missingBase, source.token.decimals)} ${source.token.symbol}`,
    );
  };

  const store = async (actor: Actor, { route: request, wallets }: ResolvedRequest): Promise<QuoteRecord> => {
    const [{ route, others }, missing] = await Promise.all([price(request), shortOf(request)]);
    const prices = await pricesOf(route);
    const now = clock.now();
    const quoteId = newId("quote");
    const expiresAt = addSeconds(now, QUOTE_TTL_SECONDS);
    const record = toQuoteRecord({ quoteId, expiresAt, request, wallets, route, others, prices, shortOf: missing });
    const minimumBase = minimumOut(route);
    await repository.insert({
      id: quoteId,
      projectId: actor.projectId,
      status: "open",
      request: toStored(request),
      route: toStored(route),
      response: toStored(record),
      minimumBase: toDecimal(minimumBase),
      digest: approvalDigest(request, minimumBase),
      createdAt: now,
      expiresAt,
    });
    return record;
  };

  /**
   * Prices a movement from the project's wallets.
   * @throws DomainError for every field at fault, `no_route`, `insufficient_liquidity`, `chain_unavailable`
   */
  const create = async (actor: Actor, input: QuoteInput): Promise<QuoteRecord> =>
    store(actor, await resolveRequest(deps, actor.projectId, input));

  const requestCode = async (actor: Actor, quoteId: string) => {
    const quote = await loadOpen(actor, quoteId);
    const request = storedRouteRequest.parse(quote.request);
    return deps.otp.request({
      projectId: actor.projectId,
      userId: responsibleUserId(actor),
      subjectId: quote.id,
      digest: new Uint8Array(quote.digest),
      subject: "Your code to approve a swap",
      lines: approvalLines(request, toBigInt(quote.minimumBase), (chainId) => deps.registry.get(chainId).name),
    });
  };

  const approve = async (quote: QuoteRow, code: string | undefined): Promise<void> => {
    if (quote.approvedAt !== null) return;
    if (code === undefined) {
      throw new DomainError(
        "otp_required",
        "This needs the one-time code that approves the quote (POST /swap/request-otp).",
        {
          details: [{ path: "otp", message: "is required" }],
        },
      );
    }
    await deps.otp.consume({ subjectId: quote.id, digest: quote.digest, code });
    await repository.approve(quote.id, clock.now());
  };

  const priceMoved = async (actor: Actor, request: RouteRequest, wallets: SourceWallet[]): Promise<DomainError> => {
    const fresh = await store(actor, { route: request, wallets });
    return new DomainError(
      "quote_price_moved",
      "The price moved: the route no longer brings the minimum that was approved. Nothing was sent. A fresh quote is in `quote`.",
      { extra: { quote: fresh } },
    );
  };

  /**
   * Checks the code, prices again, simulates, and locks the price for 60 s.
   * @throws DomainError `otp_*`, `quote_price_moved` with a fresh quote, `insufficient_balance`, `simulation_failed`
   */
  const prepare = async (actor: Actor, input: { quoteId: string; otp?: string | undefined }) => {
    const quote = await loadOpen(actor, input.quoteId);
    await approve(quote, input.otp);
    const request = storedRouteRequest.parse(quote.request);
    const wallets = await walletsOf(actor.projectId, request);
    await deps.funds.require(request.sources);
    const route = withMinimum((await price(request)).route, toBigInt(quote.minimumBase));
    if (route === null) throw await priceMoved(actor, request, wallets);
    const signal = AbortSignal.timeout(PREPARE_TIMEOUT_MS);
    const { legs, balanceChanges } = await simulateRoute(deps, {
      projectId: actor.projectId,
      request,
      wallets,
      route,
      signal,
    });
    const preparedUntil = addSeconds(clock.now(), PREPARED_SECONDS);
    const stored = await repository.markPrepared(quote.id, {
      route: toStored(route),
      prepared: toStored({ legs }),
      preparedUntil,
    });
    if (!stored) throw used(await load(actor, quote.id));
    return {
      prepared: true as const,
      quoteId: quote.id,
      expiresAt: preparedUntil.toISOString(),
      to: toDestination(request, route),
      simulation: { balanceChanges },
      actions: [],
    };
  };

  const readPrepared = (quote: QuoteRow): { preparedUntil: Date; legs: readonly PreparedLeg[] } => {
    if (quote.status === "used") throw used(quote);
    if (quote.status !== "prepared" || quote.preparedUntil === null) {
      throw new DomainError("invalid_state", "This quote is not prepared yet (POST /swap/prepare). Nothing was sent.");
    }
    if (quote.preparedUntil <= clock.now()) {
      throw new DomainError(
        "quote_expired",
        "The price was locked for 60 s, and they are over. Prepare again; nothing was sent.",
      );
    }
    return { preparedUntil: quote.preparedUntil, legs: storedPrepared.parse(quote.prepared).legs };
  };

  /**
   * Accepts the operation, once, and hands it to the workers.
   * @throws DomainError `invalid_state` (not prepared), `quote_expired`, `quote_already_used`, `insufficient_balance`
   */
  const execute = async (actor: Actor, quoteId: string) => {
    const quote = await load(actor, quoteId);
    const { preparedUntil, legs } = readPrepared(quote);
    const request = storedRouteRequest.parse(quote.request);
    const route = storedRoute.parse(quote.route);
    const operation = await deps.operations.start({
      projectId: actor.projectId,
      kind: "swap",
      createdBy: actorName(actor),
      request,
      wallets: await walletsOf(actor.projectId, request),
      legs: route.legs.map((leg, index) => {
        const prepared = legs[index];
        if (prepared === undefined) throw new Error("The quote was prepared with fewer legs than its route has.");
        return { routeLeg: leg, ...prepared };
      }),
      claim: (tx, operationId, now) => repository.claim(tx, { id: quote.id, operationId, preparedUntil, now }),
    });
    if (operation === null) throw refusal(await load(actor, quote.id));
    return { operationId: operation.id, status: operation.status, subStatus: operation.subStatus };
  };

  return { create, requestCode, prepare, execute };
};

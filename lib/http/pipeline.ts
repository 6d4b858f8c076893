import { actorName, type Actor, type UserActor } from "@/lib/core/actor";
import type { RequestContext } from "@/lib/core/request-context";
import { refusedKeyOf } from "@/lib/core/refused-key";
import { inSpan, isTracing } from "@/lib/core/tracing";
import type { BodyOf, Contract, ParamsOf, QueryOf, ResponseOf } from "@/lib/contracts/contract";
import { authenticate, authorize } from "./authenticate";
import { addressBucket, clientAddress } from "./client-address";
import { withHeaders } from "./answer-headers";
import { answerRead, freshnessHeaders } from "./freshness";
import { requestContext } from "./request-context";
import { readIdempotencyKey, runIdempotent } from "./idempotency";
import { inputFromRequest, type HttpInput } from "./input";
import { limit, limitNetwork } from "./limits";
import { logForKey, newTrace, type Trace } from "./request-trace";
import { getLogger, loggedError, logInfoLine } from "@/lib/log/logger";
import { observeRequest } from "./metrics";
import { detailsOf, parseBody, parseParams, parseQuery, readRawBody } from "./parse";
import { toAnswer, toDomainError } from "./problem";
import type { Answer, Reply } from "./reply";
import type { HttpServices } from "./services";

type ActorOf<C extends Contract> = C["auth"] extends "public" ? null : C["auth"] extends "user" ? UserActor : Actor;

/** The body that a handler returns: the contract's response, whose parts may be read-only. */
type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Sent<T[Key]> }
    : T;

type Result<C extends Contract> = Reply<Sent<ResponseOf<C>>> | Response;

export interface HandlerContext<C extends Contract, S, V = null> {
  readonly body: BodyOf<C>;
  /** The raw body; empty when the contract has none. */
  readonly rawBody: Uint8Array;
  /** The result of `verify`. */
  readonly verified: V;
  readonly query: QueryOf<C>;
  readonly params: ParamsOf<C>;
  readonly actor: ActorOf<C>;
  readonly services: S;
  /** Made when it is read; its body has been read already. */
  readonly request: Request;
  readonly requestId: string;
  /** Address of the peer that opened the connection, for instance a proxy; empty when unknown. */
  readonly peerAddress: string;
  /** Where the request comes from, for what is recorded of it. Callers with a credential have it in `actor.request` too. */
  readonly origin: RequestContext;
  /** The caller's Idempotency-Key, for handlers that store it beside their own rows. */
  readonly idempotencyKey: string | null;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
}

/** A body that is not parsed yet. */
export interface SentBody<S> {
  readonly services: S;
  readonly raw: Uint8Array;
  /** @param name in lower case */
  header(name: string): string | null;
}

export interface RouteOptions<C extends Contract, S, V = null> {
  readonly contract: C;
  /** Checks the sender by the bytes of the body, before anything parses them. Throws the error that the caller gets instead. */
  readonly verify?: (sent: SentBody<S>) => V;
  /** Whether `Idempotency-Key` counts. Default: on every POST that is not public. Public routes have no caller to store it for. */
  readonly idempotency?: boolean;
  /**
   * Checks, before a stored answer is given again, what the handler would check of the caller's authority: scopes, roles and
   * membership that the contract names are checked already. Throws the error that the caller gets instead.
   */
  readonly beforeReplay?: (context: HandlerContext<C, S, V>) => Promise<void> | void;
  readonly handler: (context: HandlerContext<C, S, V>) => Promise<Result<C>> | Result<C>;
}

/** A Next route handler that the fast server can also call without Web objects. */
export interface RouteHandler {
  (request: Request, context: { params: Promise<Record<string, string>> }): Promise<Response>;
  readonly contract: Contract;
  readonly respond: (input: HttpInput, params: Readonly<Record<string, string>>) => Promise<Answer | Response>;
}

const NO_HEADERS = {};
const NO_BODY = { raw: new Uint8Array(), parse: () => undefined };
/** Bytes from which a body is parsed while its Idempotency-Key is claimed. A smaller one is parsed before, so that an invalid one costs no statement. */
const LARGE_BODY = 32 * 1024;

const serialise = (contract: Contract, result: Reply<unknown>, services: HttpServices): Answer => {
  // Types check handlers against the contract; in development the values are checked too.
  if (services.config.env === "development") {
    const parsed = contract.response.safeParse(result.body);
    if (!parsed.success)
      throw new Error(
        `The answer of ${contract.method} ${contract.path} breaks its contract: ${JSON.stringify(detailsOf(parsed.error))}`,
      );
  }
  return {
    status: result.status,
    headers: result.headers ?? NO_HEADERS,
    body: JSON.stringify(result.body),
  };
};

const failed = (contract: Contract, error: unknown, trace: Trace, logLevel: string): Answer => {
  const domainError = toDomainError(error);
  trace.code = domainError.code;
  trace.key ??= refusedKeyOf(error);
  const answer = toAnswer(domainError, trace.requestId, { inputErrorsAs400: contract.inputErrorsAs400 === true });
  if (answer.status >= 500)
    getLogger(logLevel).error(
      { requestId: trace.requestId, code: domainError.code, err: loggedError(domainError.cause ?? error) },
      "request failed",
    );
  return answer;
};

const admit = async (
  contract: Contract,
  input: HttpInput,
  services: HttpServices,
  trace: Trace,
): Promise<Actor | null> => {
  const { config } = services;
  const address = clientAddress(input, config.trustedProxyHops);
  const network = addressBucket(address);
  const counted = limitNetwork(services, trace.limits, { network, signInAttempt: contract.signInAttempt === true });
  const origin = requestContext(trace.requestId, address, input.header("user-agent"));
  trace.clientAddress = origin.clientAddress;
  const found = authenticate(contract, input, services, origin.clientAddress);
  // Both wait at the same time. A request over the limit does not learn whether its credential was right.
  found.catch(() => undefined);
  await counted;
  const caller = await found;
  if (caller === null) return null;
  const actor = { ...caller, request: origin };
  trace.actor = actor;
  if (actor.type === "apiKey") trace.key = actor;
  await limit(services, trace.limits, { name: "caller", who: actorName(actor), perWindow: config.rateLimitPerKey });
  authorize(contract, actor);
  return actor;
};

interface RouteContextFields {
  readonly body: unknown;
  readonly rawBody: Uint8Array;
  readonly verified: unknown;
  readonly query: unknown;
  readonly params: unknown;
  readonly actor: Actor | null;
  readonly services: HttpServices;
  readonly requestId: string;
}

/** The argument of a handler. A class, because the accessors of a literal would be created for every request. */
class RouteContext implements RouteContextFields {
  readonly body: unknown;
  readonly rawBody: Uint8Array;
  readonly verified: unknown;
  readonly query: unknown;
  readonly params: unknown;
  readonly actor: Actor | null;
  readonly services: HttpServices;
  readonly requestId: string;
  readonly #input: HttpInput;

  constructor(input: HttpInput, fields: RouteContextFields) {
    this.#input = input;
    this.body = fields.body;
    this.rawBody = fields.rawBody;
    this.verified = fields.verified;
    this.query = fields.query;
    this.params = fields.params;
    this.actor = fields.actor;
    this.services = fields.services;
    this.requestId = fields.requestId;
  }

  get request(): Request {
    return this.#input.request();
  }

  get peerAddress(): string {
    return this.#input.peerAddress;
  }

  get origin(): RequestContext {
    const address = clientAddress(this.#input, this.services.config.trustedProxyHops);
    return requestContext(this.requestId, address, this.#input.header("user-agent"));
  }

  get idempotencyKey(): string | null {
    return readIdempotencyKey(this.#input.header("idempotency-key"));
  }

  get signal(): AbortSignal {
    return this.#input.signal();
  }
}

const hasBody = (contract: Contract): contract is Contract & { body: NonNullable<Contract["body"]> } =>
  contract.body !== undefined;

const receiveBody = async <C extends Contract, S, V>(
  { contract, verify }: RouteOptions<C, S, V>,
  input: HttpInput,
  services: S,
  trace: Trace,
): Promise<{ raw: Uint8Array; parse: () => unknown; verified: V | null }> => {
  if (!hasBody(contract)) return { ...NO_BODY, verified: null };
  const raw = await readRawBody(contract, input);
  if (trace.key !== null) trace.body = raw;
  const verified = verify?.({ services, raw, header: (name) => input.header(name) }) ?? null;
  return { raw, parse: () => parseBody(contract, raw), verified };
};

const carryOut = async <C extends Contract, S extends HttpServices, V>(
  options: RouteOptions<C, S, V>,
  input: HttpInput,
  pathParams: Readonly<Record<string, string>>,
  { services, trace }: { services: S; trace: Trace },
): Promise<Answer | Response> => {
  const { contract } = options;
  const actor = await admit(contract, input, services, trace);
  const params = parseParams(contract, pathParams);
  const query = parseQuery(contract, input.search);
  const { raw, parse, verified } = await receiveBody(options, input, services, trace);
  const counts = contract.method === "POST" && options.idempotency !== false;
  const key = counts && actor !== null ? readIdempotencyKey(input.header("idempotency-key")) : null;
  const isLater = key !== null && raw.length >= LARGE_BODY;
  let body = isLater ? undefined : parse();
  const { requestId } = trace;
  // The contract's schemas made these values, so they have the contract's types.
  const contextOn = (own: S): HandlerContext<C, S, V> =>
    new RouteContext(input, {
      body,
      rawBody: raw,
      verified,
      query,
      params,
      actor,
      services: own,
      requestId,
    }) as unknown as HandlerContext<C, S, V>;
  const run = (): Promise<Answer | Response> =>
    answerRead(contract, input, services, async (own) => {
      const result = await options.handler(contextOn(own));
      return result instanceof Response ? result : serialise(contract, result, services);
    });
  if (key === null || actor === null) return run();
  const { logLevel, appSecret, appSecretPrevious } = services.config;
  const appSecrets = [appSecret, ...(appSecretPrevious === null ? [] : [appSecretPrevious])] as const;
  const onError = (error: unknown): void =>
    getLogger(logLevel).error({ requestId: trace.requestId, err: loggedError(error) }, "idempotency could not be kept");
  const call = { store: services.idempotencyStore, clock: services.clock, appSecrets, contract, actor, key, onError };
  const beforeReplay = (): Promise<void> | void => options.beforeReplay?.(contextOn(services));
  const readBodyLater = (): void => {
    body = parse();
  };
  const sent = { path: input.path, search: input.search, rawBody: raw, readBody: isLater ? readBodyLater : null };
  return runIdempotent({ ...call, ...sent, beforeReplay }, () =>
    run().catch((error: unknown) => failed(contract, error, trace, logLevel)),
  );
};

const finish = (contract: Contract, trace: Trace, status: number, ms: number, logLevel: string): void => {
  observeRequest(contract, status, ms / 1000);
  // Templates, ids and numbers only: they need no escaping. Bodies, headers and concrete paths are never logged.
  const actor = trace.actor === null ? "" : `,"actor":"${actorName(trace.actor)}"`;
  logInfoLine(
    logLevel,
    `"method":"${contract.method}","path":"${contract.path}","status":${String(status)},"ms":${ms.toFixed(2)},"requestId":"${trace.requestId}"${actor},"msg":"request"`,
  );
};

/** The span of a request: a child of the caller's, where the caller sends a W3C `traceparent`. */
const inRequestSpan = (
  { method, path }: Contract,
  input: HttpInput,
  answer: () => Promise<Answer | Response>,
): Promise<Answer | Response> => {
  const fields = { "http.request.method": method, "http.route": path };
  return inSpan(`${method} ${path}`, { kind: "server", parent: input.header("traceparent"), fields }, async (span) => {
    const result = await answer();
    span.set({ "http.response.status_code": result.status });
    return result;
  });
};

/**
 * Creates `route()` for a set of services. The order of a request is: request id → limit by address → authentication → limit by caller →
 * content type, size, JSON, contract → idempotency (for a large body before JSON) → handler → error body → log line and metrics. Without an
 * Idempotency-Key none of these steps awaits the database.
 */
export const createRoute =
  <S extends HttpServices>(getServices: () => S | Promise<S>) =>
  <const C extends Contract, V = null>(options: RouteOptions<C, S, V>): RouteHandler => {
    const { contract } = options;
    const answer = async (input: HttpInput, params: Readonly<Record<string, string>>): Promise<Answer | Response> => {
      const startedMs = performance.now();
      const trace = newTrace();
      let services: S | null = null;
      let logLevel = "info";
      let publicUrl = "";
      let result: Answer | Response;
      try {
        const made = getServices();
        services = made instanceof Promise ? await made : made;
        ({ logLevel, publicUrl } = services.config);
        result = await carryOut(options, input, params, { services, trace });
        trace.freshness = await freshnessHeaders(contract, input, services);
      } catch (error) {
        result = failed(contract, error, trace, logLevel);
      }
      const durationMs = performance.now() - startedMs;
      finish(contract, trace, result.status, durationMs, logLevel);
      logForKey(contract, trace, services, { status: result.status, durationMs });
      return withHeaders(result, trace, publicUrl);
    };
    const respond = (input: HttpInput, params: Readonly<Record<string, string>>): Promise<Answer | Response> =>
      isTracing() ? inRequestSpan(contract, input, () => answer(input, params)) : answer(input, params);
    const handle = async (
      request: Request,
      context: { params: Promise<Record<string, string>> },
    ): Promise<Response> => {
      const result = await respond(inputFromRequest(request), await context.params);
      return result instanceof Response
        ? result
        : new Response(result.body, { status: result.status, headers: result.headers });
    };
    return Object.assign(handle, { contract, respond });
  };

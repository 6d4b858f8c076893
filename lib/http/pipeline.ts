import { type Actor, actorName, type RequestContext, type UserActor } from "@/lib/core/actor";
import { refusedKeyOf } from "@/lib/core/errors";
import { inSpan, isTracing } from "@/lib/core/tracing";
import type { BodyOf, Contract, ParamsOf, QueryOf, ResponseOf } from "@/lib/contracts/contract";
import { authenticate, authorize } from "./authenticate";
import {
  addressBucket,
  clientAddress,
  type HttpInput,
  inputFromRequest,
  requestContext,
} from "./input";
import { withHeaders } from "./headers";
import { answerRead, freshnessHeaders } from "./freshness";
import { isIdempotent, readIdempotencyKey, runIdempotent } from "./idempotency";
import { limit, limitNetwork } from "./limits";
import { logForKey, newTrace, type Trace } from "./request-trace";
import { getLogger, loggedError, logInfoLine } from "@/lib/platform/log/logger";
import { observeRequest } from "./metrics";
import { createLoadGate, type LoadGate } from "./load-gate";
import { withinRequestTime } from "@/lib/core/request-time";
import { requireDevelopment } from "./own-host";
import { conditional } from "./conditional";
import { withCursor, withPosition, type PageRequest } from "./cursor";
import { parseBody, parseParams, parseQuery, readRawBody, requireNoFields } from "./parse";
import { toAnswer, toDomainError } from "./problem";
import type { Answer, Reply } from "./reply";
import type { HttpServices } from "./services";

type ActorOf<C extends Contract> = C["auth"] extends "public"
  ? null
  : C["auth"] extends "user"
    ? UserActor
    : Actor;

/** The body that a handler returns: the contract's response, which may have read-only parts. */
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
  readonly verified: V;
  readonly query: QueryOf<C>;
  readonly params: ParamsOf<C>;
  readonly actor: ActorOf<C>;
  readonly services: S;
  /** The Web Request, created on first use. Its body has been read already. */
  readonly request: Request;
  readonly requestId: string;
  /** Address of the peer that opened the connection, for instance a proxy; empty when unknown. */
  readonly peerAddress: string;
  /**
   * Id, address, network and user agent of the request, for records. Callers with a credential also
   * have them in `actor.request`.
   */
  readonly origin: RequestContext;
  /** The caller's Idempotency-Key, for handlers that store it with their own rows. */
  readonly idempotencyKey: string | null;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

export interface SentBody<S> {
  readonly services: S;
  readonly raw: Uint8Array;
  /** @param name in lower case */
  header(name: string): string | null;
}

export interface RouteOptions<C extends Contract, S, V = null> {
  readonly contract: C;
  /**
   * Checks the sender from the raw bytes of the body, before they are parsed. Throws the error for
   * the caller.
   */
  readonly verify?: (sent: SentBody<S>) => V;
  /**
   * True when the answer does not depend on query and body. They are then neither read nor
   * checked.
   */
  readonly takesAnything?: boolean;
  /**
   * Runs before a stored answer is repeated. It repeats the handler's checks of the caller's
   * authority; the scopes, roles and membership of the contract are checked already. Throws the
   * error for the caller.
   */
  readonly beforeReplay?: (context: HandlerContext<C, S, V>) => Promise<void> | void;
  /**
   * Called when the handler rejects a request with an Idempotency-Key because of the record's
   * state. The caller may have made this change in an earlier request whose answer was lost.
   * Returns the answer of that earlier request, otherwise null.
   */
  readonly answerAgain?: (context: HandlerContext<C, S, V>) => Promise<Result<C> | null>;
  readonly handler: (context: HandlerContext<C, S, V>) => Promise<Result<C>> | Result<C>;
}

/** A Next route handler that the fast server can also call without Web objects. */
export interface RouteHandler {
  (request: Request, context: { params: Promise<Record<string, string>> }): Promise<Response>;
  readonly contract: Contract;
  readonly respond: (
    input: HttpInput,
    params: Readonly<Record<string, string>>,
  ) => Promise<Answer | Response>;
}

/** The part of the configuration that error answers need before the services exist. */
type LogConfig = Pick<HttpServices["config"], "logLevel" | "publicUrl">;

const NO_HEADERS = {};
const NO_BODY = { raw: new Uint8Array(), body: undefined };

const serialise = (
  page: PageRequest,
  result: Reply<unknown>,
  services: HttpServices,
): Answer => {
  const { contract } = page;
  const body = withCursor(page, services.config, result.body);
  // Types check handlers against the contract. In development the values are checked as well.
  if (services.config.env === "development") {
    const parsed = contract.response.safeParse(body);
    if (!parsed.success)
      throw new Error(
        `The answer of ${contract.method} ${contract.path} breaks its contract: ${JSON.stringify(parsed.error.issues)}`,
      );
  }
  return {
    status: result.status,
    headers: result.headers ?? NO_HEADERS,
    body: JSON.stringify(body),
  };
};

const failed = (
  contract: Contract,
  error: unknown,
  trace: Trace,
  { logLevel, publicUrl }: LogConfig,
): Answer => {
  const domainError = toDomainError(error);
  trace.code = domainError.code;
  trace.key ??= refusedKeyOf(error);
  const inputErrorsAs400 = contract.inputErrorsAs400 === true;
  const answer = toAnswer(domainError, trace.requestId, { publicUrl, inputErrorsAs400 });
  if (answer.status >= 500)
    getLogger(logLevel).error(
      {
        requestId: trace.requestId,
        code: domainError.code,
        err: loggedError(domainError.cause ?? error),
      },
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
  const counted = limitNetwork(services, trace.limits, {
    network,
    signInAttempt: contract.signInAttempt === true,
  });
  const origin = requestContext(trace.requestId, address, input.header("user-agent"));
  trace.clientAddress = origin.clientAddress;
  requireDevelopment({ path: contract.path, host: input.header("host"), config });
  const found = authenticate(contract, input, services, origin.clientAddress);
  // The count and the authentication run concurrently. The count is awaited first, so that a
  // caller over the limit does not learn whether its credential was right.
  found.catch(() => undefined);
  await counted;
  const caller = await found;
  if (caller === null) return null;
  const actor = { ...caller, request: origin };
  trace.actor = actor;
  if (actor.type === "apiKey") trace.key = actor;
  await limit(services, trace.limits, {
    name: "caller",
    who: actorName(actor),
    perWindow: config.rateLimitPerKey,
  });
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

/**
 * The argument of a handler. A class, because the accessors of a literal would be created for every
 * request.
 */
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

const receiveBody = async <C extends Contract, S, V>(
  { contract, verify, takesAnything }: RouteOptions<C, S, V>,
  input: HttpInput,
  services: S,
  trace: Trace,
): Promise<{ raw: Uint8Array; body: unknown; verified: V | null }> => {
  if (contract.body === undefined) {
    if (takesAnything !== true) await requireNoFields(contract, input);
    return { ...NO_BODY, verified: null };
  }
  const raw = await readRawBody(contract, input);
  if (trace.key !== null) trace.body = raw;
  const verified = verify?.({ services, raw, header: (name) => input.header(name) }) ?? null;
  return { raw, body: parseBody(contract, raw), verified };
};

/**
 * Calls the handler. When the state does not allow the change because this caller already made it,
 * returns the answer that the caller lost.
 */
const changeOrFind = async <C extends Contract, S, V>(
  { handler, answerAgain }: RouteOptions<C, S, V>,
  context: HandlerContext<C, S, V>,
): Promise<Result<C>> => {
  try {
    return await handler(context);
  } catch (error) {
    if (answerAgain === undefined || toDomainError(error).code !== "invalid_state") throw error;
    const found = await answerAgain(context);
    if (found === null) throw error;
    return found;
  }
};

const gates = new WeakMap<Contract, LoadGate>();

/**
 * Runs the handler within the duration that a request may have, unless too many of its kind are
 * slow. Streams and files take as long as they need.
 */
const withinLimits = <T>(
  contract: Contract,
  { config: { requestMsMax } }: HttpServices,
  handle: () => Promise<T>,
): Promise<T> => {
  if (contract.mediaType !== undefined) return handle();
  const gate = gates.get(contract) ?? createLoadGate(requestMsMax);
  gates.set(contract, gate);
  return gate.run(() => withinRequestTime(requestMsMax, handle));
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
  const page = {
    contract,
    params,
    query: options.takesAnything === true ? undefined : parseQuery(contract, input.search),
    projectId: actor?.projectId ?? null,
  };
  const query = withPosition(page, services.config);
  const { raw, body, verified } = await receiveBody(options, input, services, trace);
  const key = isIdempotent(contract)
    ? readIdempotencyKey(input.header("idempotency-key"))
    : null;
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
      requestId: trace.requestId,
    }) as unknown as HandlerContext<C, S, V>;
  const handle = (): Promise<Answer | Response> =>
    answerRead(contract, input, services, async (own) => {
      const context = contextOn(own);
      const result =
        key === null ? await options.handler(context) : await changeOrFind(options, context);
      return result instanceof Response ? result : serialise(page, result, services);
    });
  const run = (): Promise<Answer | Response> => withinLimits(contract, services, handle);
  if (key === null || actor === null) return run();
  const { logLevel, appSecret, appSecretPrevious } = services.config;
  const appSecrets = [
    appSecret,
    ...(appSecretPrevious === null ? [] : [appSecretPrevious]),
  ] as const;
  const onError = (error: unknown): void =>
    getLogger(logLevel).error(
      { requestId: trace.requestId, err: loggedError(error) },
      "idempotency could not be kept",
    );
  const call = {
    store: services.idempotencyStore,
    clock: services.clock,
    appSecrets,
    contract,
    actor,
    key,
    onError,
  };
  const beforeReplay = (): Promise<void> | void => options.beforeReplay?.(contextOn(services));
  const sent = {
    path: input.path,
    search: input.search,
    rawBody: contract.body === undefined ? null : raw,
  };
  return runIdempotent({ ...call, ...sent, beforeReplay }, () =>
    run().catch((error: unknown) => failed(contract, error, trace, services.config)),
  );
};

const finish = (
  contract: Contract,
  trace: Trace,
  status: number,
  ms: number,
  logLevel: string,
): void => {
  observeRequest(contract, status, ms / 1000);
  // The line has only templates, ids and numbers, which need no escaping. Bodies, headers and
  // concrete paths are never logged.
  const actor = trace.actor === null ? "" : `,"actor":"${actorName(trace.actor)}"`;
  logInfoLine(
    logLevel,
    `"method":"${contract.method}","path":"${contract.path}","status":${String(status)},"ms":${ms.toFixed(2)},"requestId":"${trace.requestId}"${actor},"msg":"request"`,
  );
};

/**
 * The span of a request, which is a child of the caller's span when the caller sends a W3C
 * `traceparent`.
 */
const inRequestSpan = (
  { method, path }: Contract,
  input: HttpInput,
  answer: () => Promise<Answer | Response>,
): Promise<Answer | Response> => {
  const fields = { "http.request.method": method, "http.route": path };
  return inSpan(
    `${method} ${path}`,
    { kind: "server", parent: input.header("traceparent"), fields },
    async (span) => {
      const result = await answer();
      span.set({ "http.response.status_code": result.status });
      return result;
    },
  );
};

/**
 * Creates `route()` for a set of services. The order of a request is: request id → limit by address
 * → authentication → limit by caller → content type, size, JSON, contract → idempotency → handler →
 * error body → log line and metrics. Without an Idempotency-Key none of these steps awaits the
 * database.
 */
export const createRoute =
  <S extends HttpServices>(getServices: () => S | Promise<S>) =>
  <const C extends Contract, V = null>(options: RouteOptions<C, S, V>): RouteHandler => {
    const { contract } = options;
    const answer = async (
      input: HttpInput,
      params: Readonly<Record<string, string>>,
    ): Promise<Answer | Response> => {
      const startedMs = performance.now();
      const trace = newTrace();
      let services: S | null = null;
      let config: LogConfig = { logLevel: "info", publicUrl: "" };
      let result: Answer | Response;
      try {
        const started = getServices();
        services = started instanceof Promise ? await started : started;
        ({ config } = services);
        const made = await carryOut(options, input, params, { services, trace });
        result = made instanceof Response ? made : conditional(contract, input, made);
        // A request that failed changed nothing, so its caller needs no freshness token.
        if (result.status < 300)
          trace.freshness = await freshnessHeaders(contract, input, services);
      } catch (error) {
        result = failed(contract, error, trace, config);
      }
      const durationMs = performance.now() - startedMs;
      finish(contract, trace, result.status, durationMs, config.logLevel);
      logForKey(contract, trace, services, { status: result.status, durationMs });
      return withHeaders(result, trace, config.publicUrl);
    };
    const respond = (
      input: HttpInput,
      params: Readonly<Record<string, string>>,
    ): Promise<Answer | Response> =>
      isTracing()
        ? inRequestSpan(contract, input, () => answer(input, params))
        : answer(input, params);
    const handle = async (
      request: Request,
      context: { params: Promise<Record<string, string>> },
    ): Promise<Response> => {
      const result = await respond(inputFromRequest(request), await context.params);
      return result instanceof Response
        ? result
        : new Response(result.status === 304 ? null : result.body, {
            status: result.status,
            headers: result.headers,
          });
    };
    return Object.assign(handle, { contract, respond });
  };

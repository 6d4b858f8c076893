import type {
  BodyInput,
  BodyOf,
  Callable,
  ParamsInput,
  ParamsOf,
  QueryInput,
  QueryOf,
  ResponseOf,
} from "@/lib/contracts/contract";
import type { ErrorDetail } from "@/lib/core/errors";
import { readEvents, type ServerEvent } from "./events";

interface ApiErrorFields {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** The whole body. Some codes have further fields in it, such as a fresh `quote`. */
  readonly body: unknown;
}

/**
 * An error response of the service. Status 0 with the code `network_error` means that there was no
 * response.
 */
export class ApiError extends Error implements ApiErrorFields {
  readonly status: number;
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly body: unknown;

  constructor(fields: ApiErrorFields, cause?: unknown) {
    super(fields.message, cause === undefined ? undefined : { cause });
    this.name = "ApiError";
    this.status = fields.status;
    this.code = fields.code;
    this.details = fields.details;
    this.requestId = fields.requestId;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.body = fields.body;
  }
}

/**
 * Absent when the contract lacks the part, and optional when all fields of the part are optional.
 */
type Part<Name extends string, Input, Output> = Output extends undefined
  ? Readonly<Partial<Record<Name, undefined>>>
  : Partial<Input> extends Input
    ? Readonly<Partial<Record<Name, Input>>>
    : Readonly<Record<Name, Input>>;

export type CallOptions<C extends Callable> = Part<"params", ParamsInput<C>, ParamsOf<C>> &
  Part<"query", QueryInput<C>, QueryOf<C>> &
  Part<"body", BodyInput<C>, BodyOf<C>> & {
    readonly idempotencyKey?: string;
    readonly signal?: AbortSignal;
    readonly headers?: HeadersInit;
  };

type Arguments<C extends Callable> =
  Partial<CallOptions<C>> extends CallOptions<C>
    ? [options?: CallOptions<C>]
    : [options: CallOptions<C>];

export interface ApiClient {
  /** Calls a route by its contract, and returns the body of the answer. @throws ApiError */
  call<C extends Callable>(contract: C, ...options: Arguments<C>): Promise<ResponseOf<C>>;
  /**
   * Events of a stream. After a lost connection, the stream continues after the last received
   * event. Ends when the service ends the stream.
   * @throws ApiError when the service refuses, or does not answer for too long
   */
  events<C extends Callable>(
    contract: C,
    ...options: Arguments<C>
  ): AsyncGenerator<ServerEvent<ResponseOf<C>>>;
}

export interface ApiClientOptions {
  /** URL up to and including `/api`: `https://pay.example.com/api`, or `/api` in the browser. */
  readonly baseUrl: string;
  /** Called before each call. Returns headers such as Authorization, x-api-key and x-project-id. */
  readonly headers?: () => HeadersInit | Promise<HeadersInit>;
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
}

interface LooseOptions {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly headers?: HeadersInit;
}

const TIMEOUT_MS = 30_000;

const text = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

export const pathOf = (
  contract: Callable,
  options: Pick<LooseOptions, "params" | "query">,
): string => {
  const params = (options.params ?? {}) as Record<string, unknown>;
  const path = contract.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(text(params[name])),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((options.query ?? {}) as Record<string, unknown>))
    if (value !== undefined && value !== null) query.append(name, text(value));
  return query.size === 0 ? path : `${path}?${query.toString()}`;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Whether the response is text, such as a CSV file. The whole body is then the result. */
const isText = ({ mediaType }: Callable): boolean =>
  mediaType !== undefined && mediaType !== "text/event-stream";

const readBody = async (response: Response): Promise<unknown> => {
  if (!(response.headers.get("content-type") ?? "").startsWith("application/json")) return null;
  try {
    return (await response.json()) as unknown;
  } catch {
    return null;
  }
};

const toApiError = async (response: Response): Promise<ApiError> => {
  const body = await readBody(response);
  const record = isRecord(body) ? body : {};
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ApiError({
    status: response.status,
    code: typeof record.code === "string" ? record.code : "unexpected_answer",
    message:
      typeof record.message === "string"
        ? record.message
        : `The service answered ${String(response.status)}.`,
    details: Array.isArray(record.details) ? (record.details as ErrorDetail[]) : [],
    requestId: response.headers.get("x-request-id"),
    retryAfterSeconds: Number.isNaN(retryAfter) ? null : retryAfter,
    body,
  });
};

const networkError = (cause: unknown): ApiError =>
  new ApiError(
    {
      status: 0,
      code: "network_error",
      message: "The service cannot be reached. Check the connection and try again.",
      details: [],
      requestId: null,
      retryAfterSeconds: null,
      body: null,
    },
    cause,
  );

/**
 * A typed client for the contracts, for browsers and Node. It does not validate responses against
 * their contract, except for the media type.
 */
export const createApiClient = (options: ApiClientOptions): ApiClient => {
  const send =
    options.fetch ?? ((input: RequestInfo | URL, init?: RequestInit) => fetch(input, init));

  /**
   * Creates the headers of a call. May fail, because `options.headers` may need the network, for
   * example for a token.
   */
  const ownHeaders = async (signal: AbortSignal | undefined): Promise<Headers> => {
    try {
      return new Headers(await options.headers?.());
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw networkError(error);
    }
  };

  const request = async (
    contract: Callable,
    call: LooseOptions,
    signal: AbortSignal | null,
  ): Promise<Response> => {
    const headers = await ownHeaders(call.signal);
    new Headers(call.headers).forEach((value, name) => headers.set(name, value));
    headers.set("accept", contract.mediaType ?? "application/json");
    if (call.idempotencyKey !== undefined) headers.set("idempotency-key", call.idempotencyKey);
    if (call.body !== undefined) headers.set("content-type", "application/json");
    const init: RequestInit = { method: contract.method, headers, signal, cache: "no-store" };
    if (call.body !== undefined) init.body = JSON.stringify(call.body);
    try {
      return await send(options.baseUrl + pathOf(contract, call), init);
    } catch (error) {
      // An abort by the caller is not a network error.
      if (call.signal?.aborted === true) throw error;
      throw networkError(error);
    }
  };

  const withDeadline = (signal: AbortSignal | undefined): AbortSignal => {
    const deadline = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
    return signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  };

  return {
    call: async <C extends Callable>(contract: C, ...[call = {}]: [options?: LooseOptions]) => {
      const response = await request(contract, call, withDeadline(call.signal));
      if (!response.ok) throw await toApiError(response);
      if (isText(contract)) return (await response.text()) as ResponseOf<C>;
      const body = await readBody(response);
      if (!isRecord(body))
        throw await toApiError(new Response(null, { status: response.status }));
      return body as ResponseOf<C>;
    },
    events: <C extends Callable>(contract: C, ...[call = {}]: [options?: LooseOptions]) =>
      readEvents<ResponseOf<C>>(
        async (lastEventId) => {
          const headers = new Headers(call.headers);
          if (lastEventId !== null) headers.set("last-event-id", lastEventId);
          const response = await request(contract, { ...call, headers }, call.signal ?? null);
          if (!response.ok) throw await toApiError(response);
          return response;
        },
        (error) =>
          error instanceof ApiError &&
          error.status !== 0 &&
          error.status !== 429 &&
          error.status < 500,
        call.signal,
      ),
  };
};

import type { z } from "zod";
import type { ErrorCode } from "@/lib/core/errors";
import type { Permission } from "@/lib/core/permissions";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call: `public` anybody, `user` only with a Bearer JWT (an API key gets 403), `member`
 * with an API key or the Bearer JWT of a project member.
 */
export type AuthScheme = "public" | "user" | "member";

/** Scopes of API keys, `resource:action`. A JWT has those of its role. */
export const SCOPES = [
  "wallets:read",
  "wallets:write",
  "swaps:write",
  "transfers:read",
  "transfers:write",
  "operations:read",
  "operations:write",
  "balances:read",
  "accounts:read",
  "accounts:write",
  "payouts:read",
  "payouts:write",
  "privacy:read",
  "privacy:write",
  "webhooks:read",
  "webhooks:write",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Maximum size of a request's body, by kind of sender. */
export const BODY_BYTES_MAX = {
  /** Anybody can send these requests, so they must stay cheap. */
  public: 16 * 1024,
  authenticated: 1024 * 1024,
  bulk: 4 * 1024 * 1024,
  webhook: 256 * 1024,
} as const;

/** How deep the JSON of a body may nest. */
export const JSON_DEPTH_MAX = { public: 20, authenticated: 32 } as const;

/** The definition of one route, from which types, parsing, OpenAPI and client are derived. */
export interface Contract {
  readonly method: Method;
  /**
   * The path below /api as OpenAPI writes it, with `{id}` for parameters:
   * `/operations/{id}/events`.
   */
  readonly path: string;
  readonly summary: string;
  /**
   * The effect of the route, its cost or the money it moves, whether it can be repeated, and the
   * caller's next step. Every route of the service has one: a test of the OpenAPI document requires
   * it.
   */
  readonly description?: string;
  readonly tag: string;
  readonly auth: AuthScheme;
  /**
   * The scope that an API key needs. For a list one of them suffices, and the service checks which
   * one by the object of the request.
   */
  readonly scope?: Scope | readonly Scope[];
  /**
   * The permission that the role of a signed-in person needs; the pipeline checks it before it
   * reads the body. Every route that writes to the project names one. Reads without one are for
   * every role. For an API key, its scopes are checked instead.
   */
  readonly permission?: Permission;
  /**
   * Counts against the stricter limit for attempts to sign in, in addition to the limit of the
   * address.
   */
  readonly signInAttempt?: boolean;
  /** Concerns the person instead of the project, so every role may call it, even a viewer. */
  readonly personal?: boolean;
  /**
   * Changes nothing although its method is not GET, because it needs a body. So every role may call
   * it.
   */
  readonly readsOnly?: boolean;
  /**
   * The answer shows a secret once, so it is not stored for repetitions, and `Idempotency-Key` has
   * no effect.
   */
  readonly keepsNoAnswer?: boolean;
  /**
   * The answer may be some seconds old, but never older than the caller's own changes, so a replica
   * of the database may answer.
   */
  readonly mayBeOld?: boolean;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Maximum size of the body. Default: 16 KiB for public routes, 1 MiB for the others. */
  readonly bodyLimit?: number;
  readonly status: 200 | 201 | 202;
  readonly response: z.ZodType;
  /** Error codes of this route, in addition to those of every route (401, 403, 429, 500). */
  readonly errors?: readonly ErrorCode[];
  /**
   * Domain codes that this route answers with 400 instead of their usual status (interface: input
   * errors of /swap/quote).
   */
  readonly inputErrorsAs400?: boolean;
  /** The stream or document is not JSON; the route answers with a Response of its own. */
  readonly mediaType?: string;
}

/** Whether an operation may change the result of a later read. */
export const mayWrite = ({ method, readsOnly }: Contract): boolean =>
  method !== "GET" && readsOnly !== true;

export const defineContract = <const C extends Contract>(contract: C): C => contract;

/**
 * The part of a contract that a caller needs. Its schemas are only used as types and may be absent,
 * so that pages that only make calls do not load them.
 */
export type Callable = Pick<Contract, "method" | "path" | "mediaType"> & Partial<Contract>;

/** A contract whose schemas may be left out. */
export type CallOf<C extends Contract> = Pick<C, "method" | "path"> & Partial<C>;

type Output<Schema> =
  NonNullable<Schema> extends z.ZodType ? z.output<NonNullable<Schema>> : undefined;
type Input<Schema> =
  NonNullable<Schema> extends z.ZodType ? z.input<NonNullable<Schema>> : undefined;

export type BodyOf<C extends Callable> = Output<C["body"]>;
export type QueryOf<C extends Callable> = Output<C["query"]>;
export type ParamsOf<C extends Callable> = Output<C["params"]>;
export type BodyInput<C extends Callable> = Input<C["body"]>;
export type QueryInput<C extends Callable> = Input<C["query"]>;
export type ParamsInput<C extends Callable> = Input<C["params"]>;
export type ResponseOf<C extends Callable> = z.output<NonNullable<C["response"]>>;

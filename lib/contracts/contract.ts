import type { z } from "zod";
import type { ErrorCode } from "@/lib/core/errors";
import type { Permission } from "@/lib/core/permissions";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call: `public` everybody, `user` only with a Bearer JWT (an API key gets 403), `member`
 * with an API key or the Bearer JWT of a project member.
 */
export type AuthScheme = "public" | "user" | "member";

/** Scopes of API keys, `resource:action`. A JWT has the scopes of its role. */
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

/** Maximum nesting of the JSON in a body. */
export const JSON_DEPTH_MAX = { public: 20, authenticated: 32 } as const;

export interface Contract {
  readonly method: Method;
  /** The path below /api in OpenAPI notation: `/operations/{id}/events`. */
  readonly path: string;
  readonly summary: string;
  /**
   * The effect of the route, its cost or the money that it moves, whether it can be repeated, and
   * the caller's next step. A test of the OpenAPI document requires one for every route.
   */
  readonly description?: string;
  readonly tag: string;
  readonly auth: AuthScheme;
  /**
   * The scope that an API key needs. If this is a list, one of them suffices, and the service
   * checks which one by the object of the request.
   */
  readonly scope?: Scope | readonly Scope[];
  /**
   * The permission that the role of a signed-in person needs; checked before the body is read.
   * Every route that writes to the project has one. Reads without one are for every role. API keys
   * need scopes instead.
   */
  readonly permission?: Permission;
  /**
   * Counts against the stricter limit of sign-in attempts, in addition to the limit of the address.
   */
  readonly signInAttempt?: boolean;
  /** Concerns the person, not the project, so every role may call it, even a viewer. */
  readonly personal?: boolean;
  /**
   * Changes nothing: its method is not GET only because it needs a body. So every role may call it.
   */
  readonly readsOnly?: boolean;
  /** The response shows a secret once, so it is not stored, and `Idempotency-Key` has no effect. */
  readonly keepsNoAnswer?: boolean;
  /**
   * The response may be some seconds old, but never older than the caller's own changes, so a
   * database replica may answer.
   */
  readonly mayBeOld?: boolean;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** In bytes. Default: 16 KiB for public routes, 1 MiB for the others. */
  readonly bodyLimit?: number;
  readonly status: 200 | 201 | 202;
  readonly response: z.ZodType;
  /** Error codes in addition to those of every route (401, 403, 429, 500). */
  readonly errors?: readonly ErrorCode[];
  /**
   * True to answer input errors with 400 where their usual status is 422, as the interface
   * specifies for /swap/quote.
   */
  readonly inputErrorsAs400?: boolean;
  /**
   * Set when the response is a stream or document other than JSON; the route then returns its own
   * Response.
   */
  readonly mediaType?: string;
}

/** Whether a call may change the result of a later read. */
export const mayWrite = ({ method, readsOnly }: Contract): boolean =>
  method !== "GET" && readsOnly !== true;

export const defineContract = <const C extends Contract>(contract: C): C => contract;

/**
 * The part of a contract that a caller needs. Schemas are used only as types and may be absent, so
 * that pages that only make calls do not load them.
 */
export type Callable = Pick<Contract, "method" | "path" | "mediaType"> & Partial<Contract>;

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

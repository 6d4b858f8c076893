import { DomainError } from "./errors";

/** The origin of a request, for rate limits and for the audit log. */
export interface RequestContext {
  readonly requestId: string;
  /** IP address of the caller behind the trusted proxies; null when unknown. */
  readonly clientAddress: string | null;
  /**
   * The network for rate limits by address: an IPv4 address, or the /64 prefix of an IPv6 address.
   * Null when unknown.
   */
  readonly clientNetwork: string | null;
  /** The calling program as it names itself, at most 300 characters. Absent when unknown. */
  readonly userAgent?: string;
}

export const ROLES = ["owner", "admin", "operator", "viewer"] as const;
export type Role = (typeof ROLES)[number];

interface Caller {
  /** When the credential expires; null or absent when it does not expire. */
  readonly expiresAt?: Date | null;
  /** Absent outside of requests. */
  readonly request?: RequestContext;
}

/**
 * A signed-in person as the caller. Services check the person's rights; routes only pass the actor
 * on.
 */
export interface UserActor extends Caller {
  readonly type: "user";
  readonly userId: string;
  readonly sessionId: string;
  readonly projectId: string;
  readonly role: Role;
}

/**
 * Limits of an API key: the amounts and recipients that it may pay, and whether a one-time code
 * must approve a payment.
 */
export interface ApiKeyPolicy {
  /** `required`: every move needs a code. `exempt`: moves within `dailyCapUsd` need none. */
  readonly otp: "required" | "exempt";
  /** US dollars per UTC day, a decimal string; null for a key that always needs a code. */
  readonly dailyCapUsd: string | null;
  /** Checksummed; the only addresses that the key may send to, or empty for any. */
  readonly recipients: readonly string[];
}

/** An API key as the caller. */
export interface ApiKeyActor extends Caller {
  readonly type: "apiKey";
  readonly keyId: string;
  readonly projectId: string;
  /** The person who created the key. One-time codes for its payments are mailed to this person. */
  readonly createdBy: string;
  /** The people who received a secret of the key by a rotation. Absent when there is nobody. */
  readonly rotatedBy?: readonly string[];
  /**
   * The session that made the key without a further proof. Absent or null when a person proved it.
   */
  readonly madeBySession?: string | null;
  readonly scopes: readonly string[];
  readonly policy: ApiKeyPolicy;
}

/** The authenticated caller: a person or an API key. */
export type Actor = UserActor | ApiKeyActor;

/**
 * Checks that an API key has the scope. People always pass, because their role decides what they
 * may do.
 * @throws DomainError `insufficient_scope`
 */
export const requireScope = (actor: Actor, scope: string): void => {
  if (actor.type !== "apiKey" || actor.scopes.includes(scope)) return;
  throw new DomainError(
    "insufficient_scope",
    `This API key lacks the scope ${scope}. Give it the scope (PATCH /auth/api-keys/{id}), or use another key.`,
  );
};

/**
 * Whether the actor may see private operations: people of the project may, an API key needs the
 * scope `privacy:read`.
 */
export const mayReadPrivate = (actor: Actor): boolean =>
  actor.type === "user" || actor.scopes.includes("privacy:read");

/** The id of the person or key, by which records and logs name an actor. */
export const actorName = (actor: Actor): string =>
  actor.type === "user" ? actor.userId : actor.keyId;

/**
 * The session on which the actor's unproven actions depend: the person's own session, or that of
 * the key's maker if the key was made without a further proof. Null when a person proved the key.
 */
export const unprovenSession = (actor: Actor): string | null =>
  actor.type === "user" ? actor.sessionId : (actor.madeBySession ?? null);

/**
 * Other people who may have acted as this actor: those who received a secret of the key by a
 * rotation.
 */
export const otherHolders = (actor: Actor): readonly string[] =>
  actor.type === "user"
    ? []
    : (actor.rotatedBy ?? []).filter((userId) => userId !== actor.createdBy);

/** The person behind the actor: the signed-in person, or the creator of the key. */
export const responsibleUserId = (actor: Actor): string =>
  actor.type === "user" ? actor.userId : actor.createdBy;

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
  /** Absent when the action does not come from a request. */
  readonly request?: RequestContext;
}

export interface UserActor extends Caller {
  readonly type: "user";
  readonly userId: string;
  readonly sessionId: string;
  readonly projectId: string;
  readonly role: Role;
}

export interface ApiKeyPolicy {
  /** `required`: every move needs a code. `exempt`: moves within `dailyCapUsd` need none. */
  readonly otp: "required" | "exempt";
  /** US dollars per UTC day, a decimal string; null for a key that always needs a code. */
  readonly dailyCapUsd: string | null;
  /** Checksummed; the only addresses that the key may send to, or empty for any. */
  readonly recipients: readonly string[];
}

export interface ApiKeyActor extends Caller {
  readonly type: "apiKey";
  readonly keyId: string;
  readonly projectId: string;
  /** The person who created the key and receives the one-time codes for its payments. */
  readonly createdBy: string;
  /** The people who received a secret of the key when it was rotated. */
  readonly rotatedBy?: readonly string[];
  /**
   * The session that created the key without a second proof of identity, such as a one-time code.
   * Absent or null when the creator gave such a proof.
   */
  readonly madeBySession?: string | null;
  readonly scopes: readonly string[];
  readonly policy: ApiKeyPolicy;
}

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
 * Whether the actor may see private operations. People of the project may; an API key needs the
 * scope `privacy:read`.
 */
export const mayReadPrivate = (actor: Actor): boolean =>
  actor.type === "user" || actor.scopes.includes("privacy:read");

/** The id that records and logs use for the actor: of the person or of the key. */
export const actorName = (actor: Actor): string =>
  actor.type === "user" ? actor.userId : actor.keyId;

/**
 * The session on which the actor's actions depend when no second proof of identity was given: the
 * person's session, or the session that created the key. Null when the creator of the key gave a
 * proof.
 */
export const unprovenSession = (actor: Actor): string | null =>
  actor.type === "user" ? actor.sessionId : (actor.madeBySession ?? null);

/**
 * People other than the creator who received a secret of the key when it was rotated, and so may
 * have acted as this actor.
 */
export const otherHolders = (actor: Actor): readonly string[] =>
  actor.type === "user"
    ? []
    : (actor.rotatedBy ?? []).filter((userId) => userId !== actor.createdBy);

/** The person behind the actor: the signed-in person, or the creator of the key. */
export const responsibleUserId = (actor: Actor): string =>
  actor.type === "user" ? actor.userId : actor.createdBy;

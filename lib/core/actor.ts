import { DomainError } from "./errors";
import type { RequestContext } from "./request-context";

export const ROLES = ["owner", "admin", "operator", "viewer"] as const;
export type Role = (typeof ROLES)[number];

interface Caller {
  /** When the credential expires; null or absent: it does not expire. */
  readonly expiresAt?: Date | null;
  /** Absent outside of requests. */
  readonly request?: RequestContext;
}

/** The authenticated caller. Services decide by it; routes only pass it on. */
export interface UserActor extends Caller {
  readonly type: "user";
  readonly userId: string;
  readonly sessionId: string;
  readonly projectId: string;
  readonly role: Role;
}

/** What an API key may move, and when that needs a one-time code. */
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
  /** One-time codes for moves by the key go to this person. */
  readonly createdBy: string;
  readonly scopes: readonly string[];
  readonly policy: ApiKeyPolicy;
}

export type Actor = UserActor | ApiKeyActor;

/**
 * People have the rights of their role; an API key does only what its scopes name.
 * @throws DomainError `insufficient_scope`
 */
export const requireScope = (actor: Actor, scope: string): void => {
  if (actor.type !== "apiKey" || actor.scopes.includes(scope)) return;
  throw new DomainError("insufficient_scope", `This API key lacks the scope ${scope}.`);
};

/** How an actor is written in records and logs. */
export const actorName = (actor: Actor): string => (actor.type === "user" ? actor.userId : actor.keyId);

/** The person behind the actor: the signed-in person, or the creator of the key. */
export const responsibleUserId = (actor: Actor): string => (actor.type === "user" ? actor.userId : actor.createdBy);

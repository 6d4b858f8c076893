export const ROLES = ["owner", "admin", "operator", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** Who calls, after authentication. Services decide by it; routes only pass it on. */
export interface UserActor {
  readonly type: "user";
  readonly userId: string;
  readonly sessionId: string;
  readonly projectId: string;
  readonly role: Role;
}

/** What an API key may move, and when that needs a one-time code. */
export interface ApiKeyPolicy {
  /** required: a code approves whatever the key moves. exempt: what lies within `dailyCapUsd` needs none. */
  readonly otp: "required" | "exempt";
  /** US dollars per UTC day, a decimal string; null for a key that always needs a code. */
  readonly dailyCapUsd: string | null;
  /** Checksummed; the only addresses that the key may send to, or empty for any. */
  readonly recipients: readonly string[];
}

export interface ApiKeyActor {
  readonly type: "apiKey";
  readonly keyId: string;
  readonly projectId: string;
  /** One-time codes for what the key does go to this person. */
  readonly createdBy: string;
  readonly scopes: readonly string[];
  readonly policy: ApiKeyPolicy;
}

export type Actor = UserActor | ApiKeyActor;

/** How an actor is written in records and logs. */
export const actorName = (actor: Actor): string => (actor.type === "user" ? actor.userId : actor.keyId);

/** The person behind the actor: the signed-in one, or who made the key. */
export const responsibleUserId = (actor: Actor): string => (actor.type === "user" ? actor.userId : actor.createdBy);

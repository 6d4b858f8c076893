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

export interface ApiKeyActor {
  readonly type: "apiKey";
  readonly keyId: string;
  readonly projectId: string;
  /** One-time codes for what the key does go to this person. */
  readonly createdBy: string;
  readonly scopes: readonly string[];
}

export type Actor = UserActor | ApiKeyActor;

/** How an actor is written in records and logs. */
export const actorName = (actor: Actor): string => (actor.type === "user" ? actor.userId : actor.keyId);

/** The person behind the actor: the signed-in one, or who made the key. */
export const responsibleUserId = (actor: Actor): string => (actor.type === "user" ? actor.userId : actor.createdBy);

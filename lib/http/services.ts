import type { ApiKeyActor, Role } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import type { IdempotencyStore } from "./idempotency";
import type { RateStore } from "./rate-counter";

/** A request that was made with an API key, after its answer. */
export interface KeyRequest {
  readonly projectId: string;
  readonly id: string;
  readonly keyId: string;
  readonly method: string;
  /** The route's template. */
  readonly path: string;
  readonly status: number;
  readonly code: string | null;
  readonly durationMs: number;
  readonly clientAddress: string | null;
  /** The body's bytes as they came; null where none was read. */
  readonly body: Uint8Array | null;
  readonly at: Date;
}

/** Services that answer reads from a replica of the database. */
export interface HttpReplica {
  /**
   * Whether the replica is close to the primary and has everything up to this place. Never throws.
   * @param place as `writtenUpTo` gave it; null where the caller wrote nothing
   */
  has(place: string | null): Promise<boolean>;
  /** The services of handlers, on the replica. */
  readonly reads: object;
  /** The place up to which the primary has written. @throws when the database does not answer */
  writtenUpTo(): Promise<string>;
}

/** The services that `route()` itself uses; handlers get all services. */
export interface HttpServices {
  readonly config: {
    readonly env: "development" | "production";
    readonly logLevel: string;
    readonly publicUrl: string;
    readonly appSecret: string;
    readonly appSecretPrevious: string | null;
    readonly trustedProxyHops: number;
    /** Requests per window of 60 s; 0 turns the limit off. */
    readonly rateLimitPerKey: number;
    readonly rateLimitPerIp: number;
    /** Attempts to sign in. */
    readonly rateLimitSignInPerIp: number;
  };
  readonly clock: Clock;
  readonly apiKeys: {
    /** @throws DomainError `unauthorized`, `api_key_expired`, `api_key_revoked` */
    /** @param from IP address of the caller; null where it is not known */
    verify(secret: string, from: string | null): Promise<ApiKeyActor>;
  };
  readonly auth: {
    /** @throws DomainError `unauthorized` */
    verifyAccessToken(token: string): Promise<{ userId: string; sessionId: string; expiresAt: Date }>;
  };
  readonly projects: {
    /** `null` asks for the user's default. @throws DomainError `not_found` for a project of others */
    resolve(userId: string, projectId: string | null): Promise<{ projectId: string; role: Role }>;
  };
  readonly apiRequests: {
    /** Logs a request that was made with an API key. Waits for nothing. */
    record(request: KeyRequest): void;
  };
  /** Null where none is configured. */
  readonly replica?: HttpReplica | null;
  readonly rateStore: RateStore;
  readonly idempotencyStore: IdempotencyStore;
}

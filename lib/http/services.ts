import type { ApiKeyActor, Role } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import type { HttpReplica } from "@/lib/composition/replica";
import type { IdempotencyStore } from "./idempotency";
import type { RateStore } from "./rate-limit";

export interface KeyRequest {
  readonly projectId: string;
  readonly id: string;
  readonly keyId: string;
  readonly method: string;
  /** Template of the route's path, such as `/operations/{id}`. */
  readonly path: string;
  readonly status: number;
  readonly code: string | null;
  readonly durationMs: number;
  readonly clientAddress: string | null;
  /** The body's bytes as received; null when none was read. */
  readonly body: Uint8Array | null;
  readonly at: Date;
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
    /** Maximum duration of a request, in milliseconds. */
    readonly requestMsMax: number;
    /** Requests per window of 60 s; 0 turns the limit off. */
    readonly rateLimitPerKey: number;
    readonly rateLimitPerIp: number;
    readonly rateLimitSignInPerIp: number;
  };
  readonly clock: Clock;
  readonly apiKeys: {
    /**
     * Finds the API key with this secret.
     * @param from IP address of the caller; null when unknown
     * @throws DomainError `unauthorized`, `api_key_expired`, `api_key_revoked`,
     * `api_key_suspended`
     */
    verify(secret: string, from: string | null): Promise<ApiKeyActor>;
  };
  readonly auth: {
    /** Reads an access token. @throws DomainError `unauthorized` */
    verifyAccessToken(
      token: string,
    ): Promise<{ userId: string; sessionId: string; expiresAt: Date }>;
  };
  readonly projects: {
    /**
     * Finds the project and the user's role in it. A `projectId` of null selects the user's
     * default project.
     * @throws DomainError `not_found` for a project of others
     */
    resolve(
      userId: string,
      projectId: string | null,
    ): Promise<{ projectId: string; role: Role }>;
  };
  readonly apiRequests: {
    /** Logs a request with an API key. Returns without waiting. */
    record(request: KeyRequest): void;
  };
  /** Null when no replica is configured. */
  readonly replica?: HttpReplica | null;
  readonly rateStore: RateStore;
  readonly idempotencyStore: IdempotencyStore;
}

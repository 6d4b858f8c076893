import type { ApiKeyActor } from "@/lib/core/actor";
import { systemClock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import type { IdempotencyStore } from "@/lib/http/idempotency";
import type { RateStore } from "@/lib/http/rate-limit";
import type { HttpServices } from "@/lib/http/services";

const noRateStore: RateStore = { add: () => Promise.resolve([]) };
const noIdempotencyStore: IdempotencyStore = {
  claim: () => Promise.resolve(null),
  complete: () => Promise.resolve(),
  release: () => Promise.resolve(),
};

/** Keys and tokens that the fake services of `httpServices` accept. */
export const KNOWN = {
  key: "cw_test_known",
  readOnlyKey: "cw_test_readonly",
  revokedKey: "cw_test_revoked",
  token: "known.token",
  viewerToken: "viewer.token",
} as const;

const expiresAt = new Date("2100-01-01T00:00:00Z");

const keyActor = (keyId: string, scopes: string[]): ApiKeyActor => ({
  type: "apiKey",
  keyId,
  projectId: "prj_1",
  createdBy: "usr_1",
  scopes,
  policy: { otp: "required", dailyCapUsd: null, recipients: [] },
});

/** The services that `route()` needs, without a database. Parts can be replaced. */
export const httpServices = (replace: Partial<HttpServices> = {}): HttpServices => ({
  config: {
    env: "development",
    logLevel: "silent",
    publicUrl: "http://localhost:3000",
    appSecret: "a secret of at least thirty-two characters",
    appSecretPrevious: null,
    trustedProxyHops: 0,
    requestMsMax: 60_000,
    rateLimitPerKey: 0,
    rateLimitPerIp: 0,
    rateLimitSignInPerIp: 0,
  },
  clock: systemClock,
  apiKeys: {
    verify: (secret) => {
      if (secret === KNOWN.key)
        return Promise.resolve(keyActor("key_1", ["swaps:write", "operations:read"]));
      if (secret === KNOWN.readOnlyKey)
        return Promise.resolve(keyActor("key_2", ["operations:read"]));
      if (secret === KNOWN.revokedKey)
        return Promise.reject(new DomainError("api_key_revoked", "This API key was revoked."));
      return Promise.reject(new DomainError("unauthorized", "This API key is not known."));
    },
  },
  auth: {
    verifyAccessToken: (token) => {
      if (token === KNOWN.token)
        return Promise.resolve({ userId: "usr_1", sessionId: "ses_1", expiresAt });
      if (token === KNOWN.viewerToken)
        return Promise.resolve({ userId: "usr_2", sessionId: "ses_2", expiresAt });
      return Promise.reject(new DomainError("unauthorized", "The access token is not valid."));
    },
  },
  projects: {
    resolve: (userId, projectId) =>
      projectId === null || projectId === "prj_1"
        ? Promise.resolve({
            projectId: "prj_1",
            role: userId === "usr_2" ? ("viewer" as const) : ("owner" as const),
          })
        : Promise.reject(notFound()),
  },
  apiRequests: { record: () => undefined },
  rateStore: noRateStore,
  idempotencyStore: noIdempotencyStore,
  ...replace,
});

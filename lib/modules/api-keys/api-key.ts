import { z } from "zod";
import type { ApiKeyPolicy } from "@/lib/core/actor";

/** An API key without its secret. Only `findByLookup` returns the hash of the secret. */
export interface ApiKey {
  readonly id: string;
  readonly projectId: string;
  readonly createdBy: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly string[];
  readonly policy: ApiKeyPolicy;
  /** In CIDR notation; the only networks that the key may be used from, or empty for any. */
  readonly networks: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** IP address of the caller that last used it, where it is known. */
  readonly lastUsedAddress: string | null;
  readonly revokedAt: Date | null;
  /** The secret before the last rotation; null once it has ended. */
  readonly previous: { readonly last4: string; readonly until: Date } | null;
  /** The people who were given a secret of the key by a rotation; whoever has the present one is last. */
  readonly rotatedBy: readonly string[];
}

export interface StoredApiKey extends ApiKey {
  readonly secretHash: Uint8Array;
  /** Names the application secret of the hash; null when the hash is older than these names. */
  readonly appSecretId: string | null;
  /** When the presented secret ends because the key was rotated; null for the current secret. */
  readonly replacedAt: Date | null;
}

/** A row of the table `api_key`. */
interface ApiKeyColumns extends Omit<ApiKey, "policy" | "previous"> {
  readonly otpPolicy: string;
  readonly dailyCapUsd: { toFixed(): string } | null;
  readonly recipients: readonly string[];
  readonly previousLast4: string | null;
  readonly previousUntil: Date | null;
}

const otpPolicy = z.enum(["required", "exempt"]);

/** @throws ZodError when a column does not have the shape that this version writes */
export const parseApiKey = (row: ApiKeyColumns): ApiKey => ({
  id: row.id,
  projectId: row.projectId,
  createdBy: row.createdBy,
  name: row.name,
  prefix: row.prefix,
  last4: row.last4,
  scopes: row.scopes,
  policy: {
    otp: otpPolicy.parse(row.otpPolicy),
    dailyCapUsd: row.dailyCapUsd?.toFixed() ?? null,
    recipients: row.recipients,
  },
  networks: row.networks,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  lastUsedAt: row.lastUsedAt,
  lastUsedAddress: row.lastUsedAddress,
  revokedAt: row.revokedAt,
  rotatedBy: row.rotatedBy,
  previous:
    row.previousLast4 === null || row.previousUntil === null
      ? null
      : { last4: row.previousLast4, until: row.previousUntil },
});

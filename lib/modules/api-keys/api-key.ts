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
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface StoredApiKey extends ApiKey {
  readonly secretHash: Uint8Array;
  /** Names the application secret of the hash; null when the hash is older than these names. */
  readonly appSecretId: string | null;
}

/** A row of the table `api_key`. */
interface ApiKeyColumns extends Omit<ApiKey, "policy"> {
  readonly otpPolicy: string;
  readonly dailyCapUsd: { toFixed(): string } | null;
  readonly recipients: readonly string[];
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
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  lastUsedAt: row.lastUsedAt,
  revokedAt: row.revokedAt,
});

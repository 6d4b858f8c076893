import { getAddress } from "viem";
import type { listApiKeys, revokeApiKey, rotateApiKey } from "@/lib/contracts/api-keys";
import { SCOPES, type ResponseOf } from "@/lib/contracts/contract";
import type { ListPage } from "@/lib/core/list-place";
import type { ApiKey } from "./service";

type ApiKeyRecord = ResponseOf<typeof listApiKeys>["data"][number];

const toRecord = (key: ApiKey): ApiKeyRecord => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last4: key.last4,
  scopes: SCOPES.filter((scope) => key.scopes.includes(scope)),
  otp: key.policy.otp,
  dailyCapUsd: key.policy.dailyCapUsd,
  recipients: key.policy.recipients.map((recipient) => getAddress(recipient)),
  networks: [...key.networks],
  createdAt: key.createdAt.toISOString(),
  expiresAt: key.expiresAt?.toISOString() ?? null,
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  lastUsedAddress: key.lastUsedAddress,
  revokedAt: key.revokedAt?.toISOString() ?? null,
  suspendedAt: key.suspendedAt?.toISOString() ?? null,
  previous:
    key.previous === null
      ? null
      : { last4: key.previous.last4, until: key.previous.until.toISOString() },
  createdBy: key.createdBy,
});

export const toApiKeys = ({
  data,
  nextCursor,
}: ListPage<ApiKey>): ResponseOf<typeof listApiKeys> => ({
  data: data.map(toRecord),
  nextCursor,
});

export const toApiKey = (key: ApiKey): ApiKeyRecord => toRecord(key);

export const toCreatedApiKey = (made: {
  key: ApiKey;
  secret: string;
}): ResponseOf<typeof rotateApiKey> => ({
  ...toRecord(made.key),
  secret: made.secret,
});

export const toRevokedApiKey = (revoked: {
  id: string;
  revokedAt: Date;
}): ResponseOf<typeof revokeApiKey> => ({
  id: revoked.id,
  revokedAt: revoked.revokedAt.toISOString(),
});

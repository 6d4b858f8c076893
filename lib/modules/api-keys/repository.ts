import type { ApiKeyPolicy } from "@/lib/core/actor";
import type { Queryable } from "@/lib/db/client";
import type { ApiKey as ApiKeyRow } from "@/lib/db/generated/client";

/** A key as it is shown; the hash of its secret never leaves the repository but by `findByLookup`. */
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
  /** Names the application secret of the hash; null where the hash is older than these names. */
  readonly appSecretId: string | null;
}

interface NewApiKey extends Omit<ApiKey, "lastUsedAt" | "revokedAt"> {
  readonly lookup: string;
  readonly secretHash: Uint8Array;
  readonly appSecretId: string;
}

const toApiKey = (row: ApiKeyRow): ApiKey => ({
  id: row.id,
  projectId: row.projectId,
  createdBy: row.createdBy,
  name: row.name,
  prefix: row.prefix,
  last4: row.last4,
  scopes: row.scopes,
  policy: {
    otp: row.otpPolicy as ApiKeyPolicy["otp"],
    dailyCapUsd: row.dailyCapUsd?.toFixed() ?? null,
    recipients: row.recipients,
  },
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  lastUsedAt: row.lastUsedAt,
  revokedAt: row.revokedAt,
});

export const insertApiKey = async (db: Queryable, { policy, ...key }: NewApiKey): Promise<ApiKey> => {
  const { otp: otpPolicy, dailyCapUsd, recipients } = policy;
  const stored = { ...key, scopes: [...key.scopes], secretHash: Uint8Array.from(key.secretHash) };
  return toApiKey(await db.apiKey.create({ data: { ...stored, otpPolicy, dailyCapUsd, recipients: [...recipients] } }));
};

/** At most `limit`, newest first, revoked ones included. */
export const listApiKeys = async (db: Queryable, projectId: string, limit: number): Promise<ApiKey[]> => {
  const rows = await db.apiKey.findMany({
    where: { projectId },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: limit,
  });
  return rows.map(toApiKey);
};

export const findByLookup = async (db: Queryable, lookup: string): Promise<StoredApiKey | null> => {
  const row = await db.apiKey.findUnique({ where: { lookup } });
  return row === null ? null : { ...toApiKey(row), secretHash: row.secretHash, appSecretId: row.appSecretId };
};

/** Compare-and-set: a key that was hashed anew by another instance stays as that one left it. */
export const rehashApiKey = async (
  db: Queryable,
  { id, from, to, appSecretId }: { id: string; from: Uint8Array; to: Uint8Array; appSecretId: string },
): Promise<void> => {
  await db.apiKey.updateMany({
    where: { id, secretHash: Uint8Array.from(from) },
    data: { secretHash: Uint8Array.from(to), appSecretId },
  });
};

/** How many keys that may still be used are hashed under each application secret; null stands for those without a name. */
export const countByAppSecret = async (db: Queryable, now: Date): Promise<ReadonlyMap<string | null, number>> => {
  const groups = await db.apiKey.groupBy({
    by: ["appSecretId"],
    where: { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
    _count: true,
  });
  return new Map(groups.map(({ appSecretId, _count }) => [appSecretId, _count]));
};

/** With the public part by which instances know it, and the version that a change names. */
export const findApiKey = async (
  db: Queryable,
  { projectId, id }: { projectId: string; id: string },
): Promise<{ key: ApiKey; lookup: string; version: number } | null> => {
  const row = await db.apiKey.findFirst({ where: { projectId, id } });
  return row === null ? null : { key: toApiKey(row), lookup: row.lookup, version: row.version };
};

/** Null when the key was revoked, or changed since that version was read. */
export const changeApiKey = async (
  db: Queryable,
  { projectId, id, version }: { projectId: string; id: string; version: number },
  { name, scopes, policy, expiresAt }: Pick<ApiKey, "name" | "scopes" | "policy" | "expiresAt">,
): Promise<ApiKey | null> => {
  const { otp: otpPolicy, dailyCapUsd, recipients } = policy;
  const rights = { scopes: [...scopes], otpPolicy, dailyCapUsd, recipients: [...recipients], expiresAt };
  const { count } = await db.apiKey.updateMany({
    where: { projectId, id, version, revokedAt: null },
    data: { name, ...rights, version: { increment: 1 } },
  });
  return count === 1 ? toApiKey(await db.apiKey.findUniqueOrThrow({ where: { id } })) : null;
};

/** Revokes the key unless that was done before; null where the project has no such key. */
export const revokeApiKey = async (
  db: Queryable,
  { projectId, id, at }: { projectId: string; id: string; at: Date },
): Promise<{ lookup: string; revokedAt: Date; changed: boolean } | null> => {
  const { count } = await db.apiKey.updateMany({ where: { projectId, id, revokedAt: null }, data: { revokedAt: at } });
  const row = await db.apiKey.findFirst({ where: { projectId, id } });
  return row?.revokedAt ? { lookup: row.lookup, revokedAt: row.revokedAt, changed: count === 1 } : null;
};

/** Notes the use of a key, unless another instance noted one since `unlessSince`. */
export const touchApiKey = async (
  db: Queryable,
  { id, at, unlessSince }: { id: string; at: Date; unlessSince: Date },
): Promise<void> => {
  await db.apiKey.updateMany({
    where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: unlessSince } }] },
    data: { lastUsedAt: at },
  });
};

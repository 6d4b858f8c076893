import type { Queryable } from "@/lib/db/client";
import { parseApiKey, type ApiKey, type StoredApiKey } from "./api-key";

interface NewApiKey extends Omit<ApiKey, "lastUsedAt" | "revokedAt"> {
  readonly lookup: string;
  readonly secretHash: Uint8Array;
  readonly appSecretId: string;
}

export const insertApiKey = async (db: Queryable, { policy, ...key }: NewApiKey): Promise<ApiKey> => {
  const { otp: otpPolicy, dailyCapUsd, recipients } = policy;
  const stored = { ...key, scopes: [...key.scopes], secretHash: Uint8Array.from(key.secretHash) };
  return parseApiKey(
    await db.apiKey.create({ data: { ...stored, otpPolicy, dailyCapUsd, recipients: [...recipients] } }),
  );
};

/** At most `limit`, newest first, revoked ones included. */
export const listApiKeys = async (db: Queryable, projectId: string, limit: number): Promise<ApiKey[]> => {
  const rows = await db.apiKey.findMany({
    where: { projectId },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: limit,
  });
  return rows.map(parseApiKey);
};

/** Ids of the keys that the person made in the project and that are not revoked. */
export const listUsableKeysOf = async (
  db: Queryable,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
): Promise<string[]> => {
  const rows = await db.apiKey.findMany({
    where: { projectId, createdBy: userId, revokedAt: null },
    select: { id: true },
  });
  return rows.map(({ id }) => id);
};

export const findByLookup = async (db: Queryable, lookup: string): Promise<StoredApiKey | null> => {
  const row = await db.apiKey.findUnique({ where: { lookup } });
  return row === null ? null : { ...parseApiKey(row), secretHash: row.secretHash, appSecretId: row.appSecretId };
};

/** Compare-and-set: changes nothing when another instance has hashed the key anew. */
export const rehashApiKey = async (
  db: Queryable,
  { id, from, to, appSecretId }: { id: string; from: Uint8Array; to: Uint8Array; appSecretId: string },
): Promise<void> => {
  await db.apiKey.updateMany({
    where: { id, secretHash: Uint8Array.from(from) },
    data: { secretHash: Uint8Array.from(to), appSecretId },
  });
};

/** The number of usable keys that are hashed under each application secret; null stands for hashes without a named secret. */
export const countByAppSecret = async (db: Queryable, now: Date): Promise<ReadonlyMap<string | null, number>> => {
  const groups = await db.apiKey.groupBy({
    by: ["appSecretId"],
    where: { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
    _count: true,
  });
  return new Map(groups.map(({ appSecretId, _count }) => [appSecretId, _count]));
};

/** The key, its public part (the cache key of every instance), and its version for `changeApiKey`. */
export const findApiKey = async (
  db: Queryable,
  { projectId, id }: { projectId: string; id: string },
): Promise<{ key: ApiKey; lookup: string; version: number } | null> => {
  const row = await db.apiKey.findFirst({ where: { projectId, id } });
  return row === null ? null : { key: parseApiKey(row), lookup: row.lookup, version: row.version };
};

/** Compare-and-set. @returns null when the key was revoked, or changed since that version was read */
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
  return count === 1 ? parseApiKey(await db.apiKey.findUniqueOrThrow({ where: { id } })) : null;
};

/** Revokes the key unless it is revoked already. @returns null when the project has no such key */
export const revokeApiKey = async (
  db: Queryable,
  { projectId, id, at }: { projectId: string; id: string; at: Date },
): Promise<{ lookup: string; revokedAt: Date; changed: boolean } | null> => {
  const { count } = await db.apiKey.updateMany({ where: { projectId, id, revokedAt: null }, data: { revokedAt: at } });
  const row = await db.apiKey.findFirst({ where: { projectId, id } });
  return row?.revokedAt ? { lookup: row.lookup, revokedAt: row.revokedAt, changed: count === 1 } : null;
};

/** Stores the time of use, unless another instance has stored one since `unlessSince`. */
export const touchApiKey = async (
  db: Queryable,
  { id, at, unlessSince }: { id: string; at: Date; unlessSince: Date },
): Promise<void> => {
  await db.apiKey.updateMany({
    where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: unlessSince } }] },
    data: { lastUsedAt: at },
  });
};

import type { ListPlace } from "@/lib/core/list-place";
import type { Queryable } from "@/lib/platform/db/client";
import { type ApiKey, parseApiKey, type StoredApiKey } from "./rules";

interface NewApiKey extends Omit<
  ApiKey,
  "lastUsedAt" | "lastUsedAddress" | "revokedAt" | "suspendedAt" | "previous" | "rotatedBy"
> {
  readonly lookup: string;
  readonly secretHash: Uint8Array;
  readonly appSecretId: string;
}

export const insertApiKey = async (
  db: Queryable,
  { policy, ...key }: NewApiKey,
): Promise<ApiKey> => {
  const { otp: otpPolicy, dailyCapUsd, recipients } = policy;
  const lists = { scopes: [...key.scopes], networks: [...key.networks] };
  const stored = { ...key, ...lists, secretHash: Uint8Array.from(key.secretHash) };
  return parseApiKey(
    await db.apiKey.create({
      data: { ...stored, otpPolicy, dailyCapUsd, recipients: [...recipients] },
    }),
  );
};

/**
 * Returns at most `limit` keys of the project, newest first, including revoked ones.
 * @param after time and id of the last key of the previous page
 */
export const listApiKeys = async (
  db: Queryable,
  projectId: string,
  { limit, after }: { readonly limit: number; readonly after: ListPlace | null },
): Promise<ApiKey[]> => {
  const beyond = after && {
    OR: [{ createdAt: { lt: after.key } }, { createdAt: after.key, id: { lt: after.id } }],
  };
  const rows = await db.apiKey.findMany({
    where: { projectId, ...beyond },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: limit,
  });
  return rows.map(parseApiKey);
};

export const hasApiKey = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<boolean> =>
  (await db.apiKey.findFirst({ where: { projectId, id }, select: { id: true } })) !== null;

export interface NamedKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
}

/**
 * The keys that are not revoked and that the person created in the project, or whose valid secret
 * the person received by a rotation.
 */
export const listUsableKeysOf = async (
  db: Queryable,
  {
    projectId,
    userId,
    now,
  }: { readonly projectId: string; readonly userId: string; readonly now: Date },
): Promise<NamedKey[]> => {
  const rows = await db.apiKey.findMany({
    where: {
      projectId,
      revokedAt: null,
      OR: [{ createdBy: userId }, { rotatedBy: { has: userId } }],
    },
    select: {
      id: true,
      name: true,
      prefix: true,
      last4: true,
      createdBy: true,
      rotatedBy: true,
      previousUntil: true,
    },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
  const holds = ({ rotatedBy, previousUntil }: (typeof rows)[number]): boolean =>
    rotatedBy.at(-1) === userId ||
    (previousUntil !== null && previousUntil > now && rotatedBy.at(-2) === userId);
  return rows.flatMap((row) => {
    const { id, name, prefix, last4 } = row;
    return row.createdBy === userId || holds(row) ? [{ id, name, prefix, last4 }] : [];
  });
};

export const listKeyIdsOf = async (
  db: Queryable,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
): Promise<string[]> => {
  const rows = await db.apiKey.findMany({
    where: { projectId, createdBy: userId },
    select: { id: true },
  });
  return rows.map(({ id }) => id);
};

/** The key with this current secret, or with a secret that a rotation has replaced. */
export const findByLookup = async (
  db: Queryable,
  lookup: string,
): Promise<StoredApiKey | null> => {
  const row = await db.apiKey.findFirst({
    where: { OR: [{ lookup }, { previousLookup: lookup }] },
  });
  if (row === null) return null;
  const key = parseApiKey(row);
  if (row.lookup === lookup)
    return {
      ...key,
      secretHash: row.secretHash,
      appSecretId: row.appSecretId,
      replacedAt: null,
    };
  const {
    previousHash: secretHash,
    previousAppSecretId: appSecretId,
    previousUntil: replacedAt,
  } = row;
  if (secretHash === null || appSecretId === null || replacedAt === null) return null;
  return { ...key, secretHash, appSecretId, replacedAt };
};

interface NewSecret {
  readonly lookup: string;
  readonly prefix: string;
  readonly last4: string;
  readonly secretHash: Uint8Array;
  readonly appSecretId: string;
}

/**
 * Gives the key a new secret. The present secret stays valid until `previousUntil`. The secret that
 * the last rotation replaced is no longer accepted. Compare-and-set.
 * @returns null when the key was revoked, or changed since `version` was read
 */
export const rotateApiKey = async (
  db: Queryable,
  { projectId, id, version }: { projectId: string; id: string; version: number },
  { secretHash, ...shown }: NewSecret,
  { previousUntil, rotatedBy }: { readonly previousUntil: Date; readonly rotatedBy: string },
): Promise<ApiKey | null> => {
  const where = { projectId, id, version, revokedAt: null };
  const row = await db.apiKey.findFirst({ where });
  if (row === null) return null;
  const { count } = await db.apiKey.updateMany({
    where,
    data: {
      ...shown,
      secretHash: Uint8Array.from(secretHash),
      previousLookup: row.lookup,
      previousHash: row.secretHash,
      previousAppSecretId: row.appSecretId,
      previousLast4: row.last4,
      previousUntil,
      rotatedBy: [...row.rotatedBy.filter((userId) => userId !== rotatedBy), rotatedBy],
      version: { increment: 1 },
    },
  });
  return count === 1 ? parseApiKey(await db.apiKey.findUniqueOrThrow({ where: { id } })) : null;
};

/** Compare-and-set: changes nothing when another instance has already rehashed the key. */
export const rehashApiKey = async (
  db: Queryable,
  {
    id,
    from,
    to,
    appSecretId,
  }: { id: string; from: Uint8Array; to: Uint8Array; appSecretId: string },
): Promise<void> => {
  await db.apiKey.updateMany({
    where: { id, secretHash: Uint8Array.from(from) },
    data: { secretHash: Uint8Array.from(to), appSecretId },
  });
};

export const countByAppSecret = async (
  db: Queryable,
  now: Date,
): Promise<ReadonlyMap<string, number>> => {
  const groups = await db.apiKey.groupBy({
    by: ["appSecretId"],
    where: { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
    _count: true,
  });
  return new Map(groups.map(({ appSecretId, _count }) => [appSecretId, _count]));
};

/**
 * The key, the public part of its secret (the cache key of every instance), and its version for
 * `changeApiKey`.
 */
export const findApiKey = async (
  db: Queryable,
  { projectId, id }: { projectId: string; id: string },
): Promise<{ key: ApiKey; lookup: string; version: number } | null> => {
  const row = await db.apiKey.findFirst({ where: { projectId, id } });
  return row === null
    ? null
    : { key: parseApiKey(row), lookup: row.lookup, version: row.version };
};

/**
 * Changes the key by compare-and-set.
 * @returns null when the key was revoked, or changed since `version` was read
 */
export const changeApiKey = async (
  db: Queryable,
  { projectId, id, version }: { projectId: string; id: string; version: number },
  {
    name,
    scopes,
    policy,
    networks,
    expiresAt,
  }: Pick<ApiKey, "name" | "scopes" | "policy" | "networks" | "expiresAt">,
): Promise<ApiKey | null> => {
  const { otp: otpPolicy, dailyCapUsd, recipients } = policy;
  const lists = { scopes: [...scopes], recipients: [...recipients], networks: [...networks] };
  const rights = { ...lists, otpPolicy, dailyCapUsd, expiresAt };
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
  const { count } = await db.apiKey.updateMany({
    where: { projectId, id, revokedAt: null },
    data: { revokedAt: at },
  });
  const row = await db.apiKey.findFirst({ where: { projectId, id } });
  return row?.revokedAt
    ? { lookup: row.lookup, revokedAt: row.revokedAt, changed: count === 1 }
    : null;
};

/**
 * Stores the time and the caller of a use, unless another instance has stored a use after
 * `unlessSince`.
 */
export const touchApiKey = async (
  db: Queryable,
  {
    id,
    at,
    from,
    unlessSince,
  }: { id: string; at: Date; from: string | null; unlessSince: Date },
): Promise<void> => {
  await db.apiKey.updateMany({
    where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: unlessSince } }] },
    data: { lastUsedAt: at, lastUsedAddress: from },
  });
};

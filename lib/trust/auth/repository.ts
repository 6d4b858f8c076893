import type { Database, Queryable } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import {
  type EmailCode,
  parseEmailCode,
  parseSession,
  parseTokenKey,
  parseUser,
  type Session,
  type SessionKind,
  type TokenKey,
  type User,
} from "./records";
import type { EncryptedRows } from "@/lib/platform/encryption/service";

interface NonceUse {
  readonly nonce: string;
  readonly purpose: string;
  readonly address: string;
  readonly now: Date;
}

export const insertNonce = async (
  db: Queryable,
  nonce: { nonce: string; purpose: string; address: string | null; expiresAt: Date },
): Promise<void> => {
  await db.siweNonce.create({ data: nonce });
};

/**
 * The state of a nonce: `open` may be used by this address now, `closed` was used or has expired,
 * `unknown` was never issued to it.
 */
export const nonceState = async (
  db: Queryable,
  use: NonceUse,
): Promise<"open" | "closed" | "unknown"> => {
  const row = await db.siweNonce.findUnique({ where: { nonce: use.nonce } });
  if (row?.purpose !== use.purpose || (row.address !== null && row.address !== use.address))
    return "unknown";
  return row.usedAt === null && row.expiresAt > use.now ? "open" : "closed";
};

/** Marks the nonce as used. Of several concurrent callers only one gets true. */
export const consumeNonce = async (
  db: Queryable,
  { nonce, purpose, now }: NonceUse,
): Promise<boolean> => {
  const where = { nonce, purpose, usedAt: null, expiresAt: { gt: now } };
  const { count } = await db.siweNonce.updateMany({ where, data: { usedAt: now } });
  return count === 1;
};

/**
 * Finds or creates the person with that address. `created` is true for only one of several
 * concurrent callers.
 */
export const ensureUser = async (
  db: Queryable,
  candidate: { id: string; address: string; contractChainId: number | null; createdAt: Date },
): Promise<{ user: User; created: boolean }> => {
  // The insert waits for another transaction that creates the same person, so the next read finds
  // the row.
  const { count } = await db.user.createMany({ data: [candidate], skipDuplicates: true });
  const row = await db.user.findUniqueOrThrow({ where: { address: candidate.address } });
  return { user: parseUser(row), created: count === 1 };
};

export const hasUser = async (db: Queryable, address: string): Promise<boolean> =>
  (await db.user.findUnique({ where: { address }, select: { id: true } })) !== null;

export const hasAnyUser = async (db: Queryable): Promise<boolean> =>
  (await db.user.findFirst({ select: { id: true } })) !== null;

/** Serialises first sign-ins until the transaction ends. */
export const lockFirstSignUp = async (db: Queryable): Promise<void> => {
  await sqlOf(db).change(
    sql`SELECT pg_advisory_xact_lock(hashtextextended('first-sign-up', 0))`,
  );
};

export const findUser = async (db: Queryable, id: string): Promise<User | null> => {
  const row = await db.user.findUnique({ where: { id } });
  return row === null ? null : parseUser(row);
};

/** Like `findUser`, but also locks the person until the transaction ends. */
export const lockUser = async (db: Queryable, id: string): Promise<User | null> => {
  await sqlOf(db).change(sql`SELECT 1 FROM app_user WHERE id = ${id} FOR NO KEY UPDATE`);
  return findUser(db, id);
};

/**
 * The projects of which the person is a member, always in the same order, so that transactions that
 * lock them cannot deadlock.
 */
export const listProjectIdsOf = async (db: Queryable, userId: string): Promise<string[]> => {
  const rows = await db.membership.findMany({
    where: { userId },
    select: { projectId: true },
    orderBy: { projectId: "asc" },
  });
  return rows.map(({ projectId }) => projectId);
};

export const setUserName = async (
  db: Queryable,
  { userId, name }: { readonly userId: string; readonly name: string | null },
): Promise<void> => {
  await db.user.update({ where: { id: userId }, data: { name } });
};

export const setUserEmail = async (
  db: Queryable,
  {
    userId,
    ...data
  }: { userId: string } & Pick<User, "email" | "emailVerifiedAt" | "emailHeldUntil">,
): Promise<void> => {
  await db.user.update({ where: { id: userId }, data });
};

/** Stores a code and closes the person's earlier ones. */
export const replaceEmailCode = async (
  db: Queryable,
  code: Omit<EmailCode, "attempts" | "closedAt">,
): Promise<void> => {
  const { userId, createdAt } = code;
  await db.emailCode.updateMany({
    where: { userId, closedAt: null },
    data: { closedAt: createdAt },
  });
  await db.emailCode.create({ data: { ...code, codeHash: Uint8Array.from(code.codeHash) } });
};

export const latestEmailCode = async (
  db: Queryable,
  userId: string,
): Promise<EmailCode | null> => {
  const row = await db.emailCode.findFirst({
    where: { userId },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
  });
  return row === null ? null : parseEmailCode(row);
};

/**
 * Closes a code whose mail was not sent, so that the person need not wait before requesting the
 * next code. The approval of the code stays valid.
 */
export const closeUndelivered = async (
  db: Queryable,
  { id, createdAt }: Pick<EmailCode, "id" | "createdAt">,
): Promise<void> => {
  await db.emailCode.updateMany({
    where: { id, closedAt: null },
    data: { closedAt: createdAt, expiresAt: createdAt },
  });
};

/**
 * Counts a guess in one statement, so that at most `attemptsMax` of any number of concurrent
 * guesses get true.
 */
export const countGuess = async (
  db: Queryable,
  { id, attemptsMax, now }: { id: string; attemptsMax: number; now: Date },
): Promise<boolean> => {
  const where = { id, closedAt: null, attempts: { lt: attemptsMax }, expiresAt: { gt: now } };
  const { count } = await db.emailCode.updateMany({
    where,
    data: { attempts: { increment: 1 } },
  });
  return count === 1;
};

/** Marks the code as used. Of several concurrent callers only one gets true. */
export const closeEmailCode = async (
  db: Queryable,
  id: string,
  now: Date,
): Promise<boolean> => {
  const { count } = await db.emailCode.updateMany({
    where: { id, closedAt: null },
    data: { closedAt: now },
  });
  return count === 1;
};

interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly kind: SessionKind;
  readonly refreshHash: Uint8Array | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly userAgent: string | null;
  readonly clientAddress: string | null;
}

/**
 * Maximum number of sessions in a list, and of earlier sign-ins with which a new one is compared.
 */
const SESSIONS_MAX = 500;

export const insertSession = async (db: Queryable, session: NewSession): Promise<void> => {
  const refreshHash =
    session.refreshHash === null ? null : Uint8Array.from(session.refreshHash);
  await db.session.create({ data: { ...session, refreshHash } });
};

export const findSession = async (db: Queryable, id: string): Promise<Session | null> => {
  const row = await db.session.findUnique({ where: { id } });
  return row === null ? null : parseSession(row);
};

export const listEarlierSessions = async (
  db: Queryable,
  userId: string,
): Promise<Session[]> => {
  const rows = await db.session.findMany({
    where: { userId },
    orderBy: { createdAt: "desc" },
    take: SESSIONS_MAX,
  });
  return rows.map(parseSession);
};

export const listLiveSessions = async (
  db: Queryable,
  userId: string,
  now: Date,
): Promise<Session[]> => {
  const where = { userId, revokedAt: null, expiresAt: { gt: now } };
  const rows = await db.session.findMany({
    where,
    orderBy: { createdAt: "desc" },
    take: SESSIONS_MAX,
  });
  return rows.map(parseSession);
};

/** Stores the time of use, unless a time after `unlessSince` is stored already. */
export const touchSession = async (
  db: Queryable,
  {
    id,
    at,
    unlessSince,
  }: { readonly id: string; readonly at: Date; readonly unlessSince: Date },
): Promise<void> => {
  const where = { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: unlessSince } }] };
  await db.session.updateMany({ where, data: { lastUsedAt: at } });
};

interface Rotation {
  readonly id: string;
  readonly from: Uint8Array;
  /** Hashes of the presented token under each accepted application secret. */
  readonly fromAny: readonly Uint8Array[];
  readonly to: Uint8Array;
  /** Identifies the caller's user agent and network; null when unknown. */
  readonly origin: Uint8Array | null;
  readonly now: Date;
}

const bytes = (hash: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(hash);

/**
 * Replaces the refresh token of a live session. Of several concurrent callers with the same token
 * only one gets the session.
 */
export const rotateRefreshToken = async (
  db: Queryable,
  { id, from, fromAny, to, origin, now }: Rotation,
): Promise<Session | null> => {
  const where = {
    id,
    refreshHash: { in: fromAny.map(bytes) },
    revokedAt: null,
    expiresAt: { gt: now },
  };
  const data = {
    refreshHash: bytes(to),
    previousHash: bytes(from),
    rotatedFor: origin === null ? null : bytes(origin),
    rotatedAt: now,
  };
  const { count } = await db.session.updateMany({ where, data });
  return count === 1 ? findSession(db, id) : null;
};

/**
 * The live session whose last rotation replaced the token `from` by the token `to`, for the user
 * agent and network of `origin`, at `since` or later. Null when there is none.
 */
export const findRotatedSession = async (
  db: Queryable,
  { id, from, to, origin, now, since }: Rotation & { readonly since: Date },
): Promise<Session | null> => {
  if (origin === null) return null;
  const row = await db.session.findFirst({
    where: {
      id,
      previousHash: bytes(from),
      refreshHash: bytes(to),
      rotatedFor: bytes(origin),
      rotatedAt: { gte: since },
      revokedAt: null,
      expiresAt: { gt: now },
    },
  });
  return row === null ? null : parseSession(row);
};

/** Ends the session. @returns null when it had ended before */
export const revokeSession = async (
  db: Queryable,
  id: string,
  now: Date,
): Promise<Session | null> => {
  const { count } = await db.session.updateMany({
    where: { id, revokedAt: null },
    data: { revokedAt: now },
  });
  return count === 1 ? findSession(db, id) : null;
};

/**
 * Key of an advisory lock that is held while the first token-signing key is created. No other lock
 * uses this number.
 */
const LOCK = 0x43_57_54_4b;

/** Additional authenticated data of the encrypted private part. */
export const tokenKeyContext = (kid: string): string => `token-key ${kid}`;

/** Returns at most `limit` token-signing keys, newest first. */
export const listTokenKeys = async (db: Queryable, limit: number): Promise<TokenKey[]> => {
  const rows = await db.tokenKey.findMany({
    orderBy: [{ createdAt: "desc" }, { kid: "asc" }],
    take: limit,
  });
  return rows.map(parseTokenKey);
};

export const insertTokenKey = async (
  db: Queryable,
  { kid, publicJwk, sealed, createdAt }: TokenKey,
): Promise<void> => {
  const { kekId, bytes } = sealed;
  await db.tokenKey.create({
    data: {
      kid,
      publicJwk: { ...publicJwk },
      privateEncrypted: Uint8Array.from(bytes),
      kekId,
      createdAt,
    },
  });
};

/**
 * Stores the key unless one exists. Of several instances that start at the same time, one creates
 * the key.
 */
export const insertFirstTokenKey = async (database: Database, key: TokenKey): Promise<void> => {
  await database.transaction(async (tx) => {
    await sqlOf(tx).change(sql`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`);
    if ((await tx.tokenKey.count()) > 0) return;
    await insertTokenKey(tx, key);
  });
};

export const deleteTokenKey = async (db: Queryable, kid: string): Promise<boolean> =>
  (await db.tokenKey.deleteMany({ where: { kid } })).count > 0;

/**
 * Deletes the token-signing keys that were created before `createdAt`.
 * @returns the kids of the deleted keys
 */
export const deleteTokenKeysBefore = async (
  db: Queryable,
  createdAt: Date,
): Promise<readonly string[]> => {
  const rows = await db.tokenKey.findMany({
    where: { createdAt: { lt: createdAt } },
    select: { kid: true },
  });
  const kids = rows.map(({ kid }) => kid);
  await db.tokenKey.deleteMany({ where: { kid: { in: kids } } });
  return kids;
};

/** The encrypted private keys, for the rotation of key-encryption keys. */
export const encryptedTokenKeys = ({ prisma }: Pick<Database, "prisma">): EncryptedRows => ({
  name: "token signing keys",
  count: async () => {
    const groups = await prisma.tokenKey.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    const groups = await prisma.tokenKey.groupBy({ by: ["kekId"] });
    return groups.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const rows = await prisma.tokenKey.findMany({
      where: { kekId, kid: { gt: afterId } },
      orderBy: { kid: "asc" },
      take: limit,
    });
    return rows.map(({ kid, privateEncrypted: bytes }) => ({
      id: kid,
      context: tokenKeyContext(kid),
      sealed: { kekId, bytes },
    }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.tokenKey.updateMany({
      where: { kid: id, kekId: sealed.kekId, privateEncrypted: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, privateEncrypted: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});

import type { Queryable } from "@/lib/db/client";
import { parseUser, type User } from "./user";

// ---------------------------------------------------------------- nonces

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

/** The state of a nonce: `open` may be used by this address now, `closed` was used or has expired, `unknown` was never given to it. */
export const nonceState = async (db: Queryable, use: NonceUse): Promise<"open" | "closed" | "unknown"> => {
  const row = await db.siweNonce.findUnique({ where: { nonce: use.nonce } });
  if (row?.purpose !== use.purpose || (row.address !== null && row.address !== use.address)) return "unknown";
  return row.usedAt === null && row.expiresAt > use.now ? "open" : "closed";
};

/** Marks the nonce as used. Of any number of concurrent callers one gets true. */
export const consumeNonce = async (db: Queryable, { nonce, purpose, now }: NonceUse): Promise<boolean> => {
  const where = { nonce, purpose, usedAt: null, expiresAt: { gt: now } };
  const { count } = await db.siweNonce.updateMany({ where, data: { usedAt: now } });
  return count === 1;
};

// ---------------------------------------------------------------- people

/** Finds or creates the person of that address. Of any number of concurrent callers one gets `created`. */
export const ensureUser = async (
  db: Queryable,
  candidate: { id: string; address: string; contractChainId: number | null; createdAt: Date },
): Promise<{ user: User; created: boolean }> => {
  // The insert waits for another transaction that creates the same person, so the next read finds the row.
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
  await db.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('first-sign-up', 0))`;
};

export const findUser = async (db: Queryable, id: string): Promise<User | null> => {
  const row = await db.user.findUnique({ where: { id } });
  return row === null ? null : parseUser(row);
};

/** As `findUser`, and locks the person until the transaction ends. */
export const lockUser = async (db: Queryable, id: string): Promise<User | null> => {
  await db.$executeRaw`SELECT 1 FROM app_user WHERE id = ${id} FOR NO KEY UPDATE`;
  return findUser(db, id);
};

export const setUserEmail = async (
  db: Queryable,
  change: { userId: string; email: string; emailVerifiedAt: Date | null },
): Promise<void> => {
  const { userId: id, email, emailVerifiedAt } = change;
  await db.user.update({ where: { id }, data: { email, emailVerifiedAt } });
};

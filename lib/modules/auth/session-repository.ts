import type { Queryable } from "@/lib/db/client";
import { parseSession, type Session, type SessionKind } from "./session";

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

/** Sign-ins that a new one is compared with, and sessions that a list has, newest first. */
const SESSIONS_MAX = 500;

export const insertSession = async (db: Queryable, session: NewSession): Promise<void> => {
  const refreshHash = session.refreshHash === null ? null : Uint8Array.from(session.refreshHash);
  await db.session.create({ data: { ...session, refreshHash } });
};

export const findSession = async (db: Queryable, id: string): Promise<Session | null> => {
  const row = await db.session.findUnique({ where: { id } });
  return row === null ? null : parseSession(row);
};

/** The newest sessions of the person, ended ones included. */
export const listEarlierSessions = async (db: Queryable, userId: string): Promise<Session[]> => {
  const rows = await db.session.findMany({
    where: { userId },
    orderBy: { createdAt: "desc" },
    take: SESSIONS_MAX,
  });
  return rows.map(parseSession);
};

/** The sessions of the person that have not ended, newest first. */
export const listLiveSessions = async (db: Queryable, userId: string, now: Date): Promise<Session[]> => {
  const where = { userId, revokedAt: null, expiresAt: { gt: now } };
  const rows = await db.session.findMany({ where, orderBy: { createdAt: "desc" }, take: SESSIONS_MAX });
  return rows.map(parseSession);
};

/** Stores the time of use, unless a time after `unlessSince` is stored. */
export const touchSession = async (
  db: Queryable,
  { id, at, unlessSince }: { readonly id: string; readonly at: Date; readonly unlessSince: Date },
): Promise<void> => {
  const where = { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: unlessSince } }] };
  await db.session.updateMany({ where, data: { lastUsedAt: at } });
};

interface Rotation {
  readonly id: string;
  /** The hash of the token under each accepted application secret. */
  readonly from: readonly Uint8Array[];
  readonly to: Uint8Array;
  readonly now: Date;
}

/** Replaces the refresh token of a live session. Of any number of concurrent callers with the same token one gets the session. */
export const rotateRefreshToken = async (db: Queryable, { id, from, to, now }: Rotation): Promise<Session | null> => {
  const where = {
    id,
    refreshHash: { in: from.map((hash) => Uint8Array.from(hash)) },
    revokedAt: null,
    expiresAt: { gt: now },
  };
  const data = { refreshHash: Uint8Array.from(to), rotatedAt: now };
  const { count } = await db.session.updateMany({ where, data });
  return count === 1 ? findSession(db, id) : null;
};

/** Ends the session. @returns null when it had ended before */
export const revokeSession = async (db: Queryable, id: string, now: Date): Promise<Session | null> => {
  const { count } = await db.session.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now } });
  return count === 1 ? findSession(db, id) : null;
};

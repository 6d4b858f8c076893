import { LRUCache } from "lru-cache";
import type { UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { createFreshCache, type FreshCache } from "@/lib/core/fresh-cache";
import { isId, newId } from "@/lib/core/ids";
import type { RequestContext } from "@/lib/core/request-context";
import type { Database, Tx } from "@/lib/db/client";
import { doneBy, recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import type { Secrets } from "@/lib/modules/encryption/service";
import { announceEnded } from "@/lib/modules/streams/service";
import type { AccessToken, AccessTokens, TokenSubject } from "./access-token";
import { createRefreshTokens, type RefreshTokens } from "./refresh-token";
import { isKnownOrigin } from "./device";
import type { Session, SessionKind } from "./session";
import { newDeviceNotice, reusedTokenNotice, type PersonNotice } from "./session-notices";
import {
  findSession,
  insertSession,
  listEarlierSessions,
  listLiveSessions,
  revokeSession,
  rotateRefreshToken,
  touchSession,
} from "./session-repository";

export interface IssuedTokens extends AccessToken {
  readonly refreshToken: string;
}

export interface StartedSession {
  readonly sessionId: string;
  /** null for a browser session: next-auth's cookie renews it. */
  readonly refreshToken: string | null;
}

export interface Sessions {
  /** Mails the person when the device or the address range is new, except at the very first sign-in. */
  start(tx: Tx, session: NewSession): Promise<StartedSession>;
  /** @throws DomainError `unauthorized` */
  verifyAccessToken(token: string): Promise<TokenSubject>;
  /** @throws DomainError `unauthorized`; a token that was used before ends its session */
  refresh(refreshToken: string): Promise<IssuedTokens>;
  isLive(sessionId: string): Promise<boolean>;
  accessTokenForSession(sessionId: string): Promise<AccessToken | null>;
  end(sessionId: string, request?: RequestContext | null): Promise<void>;
  /** The person's sessions that have not ended, newest first. */
  list(actor: UserActor): Promise<Session[]>;
  /** Ends one session of the person. @throws DomainError `not_found` for one that ended, or of somebody else */
  revoke(actor: UserActor, sessionId: string): Promise<{ readonly id: string; readonly revokedAt: Date }>;
  /** Ends every session of the person except the one that calls. @returns how many ended */
  revokeOthers(actor: UserActor): Promise<number>;
}

interface NewSession {
  readonly userId: string;
  readonly kind: SessionKind;
  /** The request that signs in; null when it is not known. */
  readonly request: RequestContext | null;
  /** How the person showed who they are, for the record. */
  readonly proof: Readonly<Record<string, string | number>>;
}

export interface SessionsDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly accessTokens: AccessTokens;
  readonly publicUrl: string;
  /** Mails the person once the transaction is committed, if they have a verified address. */
  readonly tell: (tx: Tx, userId: string, notice: PersonNotice) => Promise<void>;
  readonly clock: Clock;
  readonly monotonicMs?: () => number;
}

export const SESSION_SECONDS = 30 * 24 * 60 * 60;

const ended = (): DomainError => new DomainError("unauthorized", "This session has ended. Sign in again.");

const TOUCH_SECONDS = 60;
const TOUCHED_MAX = 10_000;

/** Sessions and their tokens. One that was ended is refused on every instance within a second. */
export const createSessions = (deps: SessionsDeps): Sessions => {
  const { database, accessTokens, clock } = deps;
  const known = createFreshCache<Session | null>({
    load: (id) => findSession(database.prisma, id),
    keep: (session) => session !== null,
    ...(deps.monotonicMs ? { monotonicMs: deps.monotonicMs } : {}),
  });
  const touch = createTouch(deps);
  const refreshTokens = createRefreshTokens(deps.secrets);

  const liveSession = async (id: string): Promise<Session | null> => {
    const session = await known.get(id);
    return session?.revokedAt === null && session.expiresAt > clock.now() ? session : null;
  };

  return {
    start: createStart(deps, refreshTokens),
    refresh: createRefresh(deps, refreshTokens, known),
    verifyAccessToken: async (token) => {
      const subject = await accessTokens.verify(token);
      const session = await liveSession(subject.sessionId);
      if (session?.userId !== subject.userId) throw ended();
      touch(session.id);
      return subject;
    },
    isLive: async (sessionId) => (await liveSession(sessionId)) !== null,
    accessTokenForSession: async (sessionId) => {
      const session = await liveSession(sessionId);
      return session === null ? null : accessTokens.mint({ userId: session.userId, sessionId });
    },
    ...createEnding(deps, known),
    list: ({ userId }) => listLiveSessions(database.prisma, userId, clock.now()),
  };
};

type Known = Pick<FreshCache<Session | null>, "invalidate">;

const createStart =
  (deps: SessionsDeps, refreshTokens: RefreshTokens): Sessions["start"] =>
  async (tx, { userId, kind, request, proof }) => {
    const id = newId("session");
    const createdAt = deps.clock.now();
    const expiresAt = addSeconds(createdAt, SESSION_SECONDS);
    const refresh = kind === "api" ? refreshTokens.make(id) : null;
    const origin = { userAgent: request?.userAgent ?? null, clientAddress: request?.clientAddress ?? null };
    const refreshHash = refresh?.hash ?? null;
    const earlier = await listEarlierSessions(tx, userId);
    await insertSession(tx, { id, userId, kind, refreshHash, createdAt, expiresAt, ...origin });
    if (earlier.length > 0 && !isKnownOrigin(origin, earlier))
      await deps.tell(tx, userId, newDeviceNotice({ ...origin, createdAt }, deps.publicUrl));
    const entry = { projectId: null, actor: userId, subject: id, request, at: createdAt };
    await recordAudit(tx, { ...entry, action: "session.created", data: { kind, ...proof } });
    return { sessionId: id, refreshToken: refresh?.token ?? null };
  };

type By = Partial<Pick<AuditEntry, "projectId" | "actor" | "request">>;

/** Ends the session and announces it to every instance. @returns null when it had ended before */
const endSession = async (
  tx: Tx,
  id: string,
  { reason, at, by }: { readonly reason: string; readonly at: Date; readonly by?: By },
): Promise<Session | null> => {
  const session = await revokeSession(tx, id, at);
  if (session === null) return null;
  const entry = { projectId: null, actor: session.userId, request: null, ...by, subject: id, at };
  await recordAudit(tx, { ...entry, action: "session.revoked", data: { reason } });
  announceEnded(tx, id);
  return session;
};

const createRefresh = (
  deps: SessionsDeps,
  refreshTokens: RefreshTokens,
  known: Known,
): ((token: string) => Promise<IssuedTokens>) => {
  const { database, clock, publicUrl } = deps;

  // Two parties hold the token. We cannot tell which one is the thief, so the session ends for both (RFC 9700, 4.14.2).
  const endReused = async (tx: Tx, id: string): Promise<void> => {
    const at = clock.now();
    const session = await endSession(tx, id, { reason: "refresh_token_reused", at });
    // The newest token of an expired session is refused too, without a second use.
    if (session === null || session.expiresAt <= at) return;
    await deps.tell(tx, session.userId, reusedTokenNotice(session, at, publicUrl));
  };

  return async (token) => {
    const used = refreshTokens.read(token);
    if (!used) throw ended();
    const next = refreshTokens.make(used.sessionId);
    const rotation = { id: used.sessionId, from: used.hashes, to: next.hash, now: clock.now() };
    const session = await database.transaction(async (tx) => {
      const rotated = await rotateRefreshToken(tx, rotation);
      if (!rotated) await endReused(tx, used.sessionId);
      return rotated;
    });
    if (!session) known.invalidate(used.sessionId);
    if (!session) throw ended();
    const minted = await deps.accessTokens.mint({ userId: session.userId, sessionId: session.id });
    return { ...minted, refreshToken: next.token };
  };
};

const createEnding = (
  { database, clock }: SessionsDeps,
  known: Known,
): Pick<Sessions, "end" | "revoke" | "revokeOthers"> => ({
  end: async (sessionId, request = null) => {
    const ending = { reason: "signed_out", at: clock.now(), by: { request } };
    await database.transaction((tx) => endSession(tx, sessionId, ending));
    known.invalidate(sessionId);
  },
  revoke: async (actor, sessionId) => {
    const at = clock.now();
    const session = isId("session", sessionId) ? await findSession(database.prisma, sessionId) : null;
    if (session?.userId !== actor.userId || session.expiresAt <= at) throw notFound();
    const revoked = await database.transaction((tx) =>
      endSession(tx, sessionId, { reason: "revoked", at, by: doneBy(actor) }),
    );
    known.invalidate(sessionId);
    if (revoked === null) throw notFound();
    return { id: sessionId, revokedAt: at };
  },
  revokeOthers: async (actor) => {
    const at = clock.now();
    const by = doneBy(actor);
    const others = await database.transaction(async (tx) => {
      const live = await listLiveSessions(tx, actor.userId, at);
      const ids = live.flatMap(({ id }) => (id === actor.sessionId ? [] : [id]));
      const revoked: string[] = [];
      for (const id of ids) if (await endSession(tx, id, { reason: "revoked", at, by })) revoked.push(id);
      return revoked;
    });
    for (const id of others) known.invalidate(id);
    return others.length;
  },
});

/** Writes `lastUsedAt` once a minute at most, and never makes a request wait for it. */
const createTouch = ({ database, clock }: SessionsDeps): ((id: string) => void) => {
  const touchedMs = new LRUCache<string, number>({ max: TOUCHED_MAX });
  return (id) => {
    const at = clock.now();
    if (at.getTime() - (touchedMs.get(id) ?? 0) < TOUCH_SECONDS * 1000) return;
    touchedMs.set(id, at.getTime());
    // A failed write is repeated a minute later; a request does not fail because of it.
    touchSession(database.prisma, { id, at, unlessSince: addSeconds(at, -TOUCH_SECONDS) }).catch(() => undefined);
  };
};

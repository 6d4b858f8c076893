import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { createFreshCache } from "@/lib/core/fresh-cache";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/db/client";
import { recordAudit } from "@/lib/modules/audit/service";
import type { Secrets } from "@/lib/modules/encryption/service";
import { announceEnded } from "@/lib/modules/streams/service";
import type { AccessToken, AccessTokens, TokenSubject } from "./access-token";
import { createRefreshTokens } from "./refresh-token";
import { findSession, insertSession, revokeSession, rotateRefreshToken } from "./repository";
import type { Session, SessionKind } from "./session";

export interface IssuedTokens extends AccessToken {
  readonly refreshToken: string;
}

export interface StartedSession {
  readonly sessionId: string;
  /** null for a browser session: next-auth's cookie renews it. */
  readonly refreshToken: string | null;
}

export interface Sessions {
  start(tx: Tx, session: NewSession): Promise<StartedSession>;
  /** @throws DomainError `unauthorized` */
  verifyAccessToken(token: string): Promise<TokenSubject>;
  /** @throws DomainError `unauthorized`; a token that was used before ends its session */
  refresh(refreshToken: string): Promise<IssuedTokens>;
  isLive(sessionId: string): Promise<boolean>;
  accessTokenForSession(sessionId: string): Promise<AccessToken | null>;
  end(sessionId: string): Promise<void>;
}

interface NewSession {
  readonly userId: string;
  readonly kind: SessionKind;
  readonly userAgent: string | null;
  /** How the person showed who they are, for the record. */
  readonly proof: Readonly<Record<string, string | number>>;
}

interface SessionsDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly accessTokens: AccessTokens;
  readonly clock: Clock;
  readonly monotonicMs?: () => number;
}

export const SESSION_SECONDS = 30 * 24 * 60 * 60;
const USER_AGENT_LENGTH_MAX = 300;

const ended = (): DomainError => new DomainError("unauthorized", "This session has ended. Sign in again.");

/** Sessions and their tokens. One that was ended is refused on every instance within a second. */
export const createSessions = (deps: SessionsDeps): Sessions => {
  const { database, accessTokens, clock } = deps;
  const refreshTokens = createRefreshTokens(deps.secrets);
  const known = createFreshCache<Session | null>({
    load: (id) => findSession(database.prisma, id),
    keep: (session) => session !== null,
    ...(deps.monotonicMs ? { monotonicMs: deps.monotonicMs } : {}),
  });

  const liveSession = async (id: string): Promise<Session | null> => {
    const session = await known.get(id);
    return session?.revokedAt === null && session.expiresAt > clock.now() ? session : null;
  };

  const start = async (tx: Tx, { userId, kind, userAgent, proof }: NewSession): Promise<StartedSession> => {
    const id = newId("session");
    const createdAt = clock.now();
    const expiresAt = addSeconds(createdAt, SESSION_SECONDS);
    const refresh = kind === "api" ? refreshTokens.make(id) : null;
    const agent = userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null;
    const refreshHash = refresh?.hash ?? null;
    await insertSession(tx, { id, userId, kind, refreshHash, createdAt, expiresAt, userAgent: agent });
    const entry = { projectId: null, actor: userId, subject: id, at: createdAt };
    await recordAudit(tx, { ...entry, action: "session.created", data: { kind, ...proof } });
    return { sessionId: id, refreshToken: refresh?.token ?? null };
  };

  const end = async (tx: Tx, id: string, reason: string): Promise<void> => {
    const at = clock.now();
    const session = await revokeSession(tx, id, at);
    if (!session) return;
    const entry = { projectId: null, actor: session.userId, subject: id, at };
    await recordAudit(tx, { ...entry, action: "session.revoked", data: { reason } });
    announceEnded(tx, id);
  };

  const refresh = async (token: string): Promise<IssuedTokens> => {
    const used = refreshTokens.read(token);
    if (!used) throw ended();
    const next = refreshTokens.make(used.sessionId);
    const rotation = { id: used.sessionId, from: used.hashes, to: next.hash, now: clock.now() };
    const session = await database.transaction(async (tx) => {
      const rotated = await rotateRefreshToken(tx, rotation);
      // Two parties hold the token. We cannot tell which one is the thief, so the session ends for both (RFC 9700,
      // 4.14.2).
      if (!rotated) await end(tx, used.sessionId, "refresh_token_reused");
      return rotated;
    });
    if (!session) known.invalidate(used.sessionId);
    if (!session) throw ended();
    const minted = await accessTokens.mint({ userId: session.userId, sessionId: session.id });
    return { ...minted, refreshToken: next.token };
  };

  return {
    start,
    refresh,
    verifyAccessToken: async (token) => {
      const subject = await accessTokens.verify(token);
      const session = await liveSession(subject.sessionId);
      if (session?.userId !== subject.userId) throw ended();
      return subject;
    },
    isLive: async (sessionId) => (await liveSession(sessionId)) !== null,
    accessTokenForSession: async (sessionId) => {
      const session = await liveSession(sessionId);
      return session === null ? null : accessTokens.mint({ userId: session.userId, sessionId });
    },
    end: async (sessionId) => {
      await database.transaction((tx) => end(tx, sessionId, "signed_out"));
      known.invalidate(sessionId);
    },
  };
};

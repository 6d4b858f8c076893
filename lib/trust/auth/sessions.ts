import { deviceOf, isKnownOrigin } from "@/lib/core/device";
import type { Session, SessionKind } from "./records";
import { randomBytes } from "node:crypto";
import { parse, stringify } from "uuid";
import type { RequestContext, UserActor } from "@/lib/core/actor";
import { ID_PREFIXES, isId, newId } from "@/lib/core/ids";
import { base62, fromBase62 } from "@/lib/core/base62";
import type { Secrets } from "@/lib/platform/encryption/service";
import { LRUCache } from "lru-cache";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { createFreshCache, type FreshCache } from "@/lib/core/fresh-cache";
import type { Database, Tx } from "@/lib/platform/db/client";
import { type AuditEntry, doneBy, recordAudit } from "@/lib/news/audit/service";
import type { MadeThing, SessionMadeService } from "@/lib/trust/session-made/service";
import { announceEnded } from "@/lib/news/feed/service";
import type { AccessToken, AccessTokens, TokenSubject } from "./access-token";
import {
  findRotatedSession,
  findSession,
  insertSession,
  listEarlierSessions,
  listLiveSessions,
  revokeSession,
  rotateRefreshToken,
  touchSession,
} from "./repository";

interface PersonNotice {
  readonly subject: string;
  readonly text: string;
}

type Origin = Pick<Session, "userAgent" | "clientAddress">;

const originLines = ({ userAgent, clientAddress }: Origin): string[] => [
  `- Device: ${deviceOf(userAgent)}`,
  `- Address: ${clientAddress ?? "unknown"}`,
];

const newDeviceNotice = (
  session: Origin & { readonly createdAt: Date },
  publicUrl: string,
): PersonNotice => ({
  subject: "New sign-in to your Causeway account",
  text: [
    `Somebody signed in to your account at ${publicUrl} from a new device or network:`,
    "",
    ...originLines(session),
    `- When: ${session.createdAt.toISOString()}`,
    "",
    "If this was you, do nothing.",
    `If not, end that session at once: ${publicUrl}/settings/security#sessions. It stops within a second. Then check your passkeys and your authenticator app.`,
  ].join("\n"),
});

/**
 * Mail about a session that ended because one of its refresh tokens was used twice (RFC 9700,
 * 4.14.2).
 */
const reusedTokenNotice = (session: Origin, at: Date, publicUrl: string): PersonNotice => ({
  subject: "A session of your Causeway account was ended",
  text: [
    `A refresh token of your account at ${publicUrl} was used twice. One of the two uses may be a thief's, so the session was ended for both:`,
    "",
    ...originLines(session),
    `- When: ${at.toISOString()}`,
    "",
    "No money moves without your approval. Sign in again to go on.",
    `If this happens again, find out where the token is stored, and look at your other sessions: ${publicUrl}/settings/security#sessions`,
  ].join("\n"),
});

const PREFIX = "cw_rt_";
const ID_BYTES = 16;
const RANDOM_BYTES = 32;
const MAC_BYTES = 16;
const TOTAL_BYTES = ID_BYTES + RANDOM_BYTES + MAC_BYTES;
const SESSION_PREFIX = `${ID_PREFIXES.session}_`;

interface RefreshToken {
  readonly token: string;
  readonly hash: Buffer;
}

interface RefreshTokens {
  make(sessionId: string): RefreshToken;
  /**
   * Derives the token that replaces `token`. The result is always the same for `token`, so a
   * repeated request gets an equal successor. Only a holder of the application secret can derive
   * it.
   */
  successor(sessionId: string, token: string): RefreshToken;
  /**
   * Null unless this service issued the token, under any accepted application secret. `hashes`
   * contains `hash` and the hashes under older application secrets.
   */
  read(token: string): {
    readonly sessionId: string;
    readonly hash: Buffer;
    readonly hashes: readonly Buffer[];
  } | null;
  /**
   * A hash by which two requests from one user agent in one network are recognised; null when the
   * network is unknown.
   */
  originHash(request: RequestContext | null): Buffer | null;
}

/**
 * Makes refresh tokens: 32 bytes (random for the first token of a session), the session's id, and a
 * MAC over both. Only the keyed hash of the newest token is stored, but the MAC identifies every
 * token that was ever issued for a session. A second use of a token therefore ends the session (RFC
 * 9700, 4.14.2), except right after the first use. A forged token has no valid MAC, so it ends no
 * session.
 */
const createRefreshTokens = (secrets: Secrets): RefreshTokens => {
  /** The MACs under each accepted application secret, the current one first. */
  const macsOf = (bytes: Uint8Array): Buffer[] =>
    secrets
      .hashes("refresh-token-mac", Buffer.from(bytes).toString("base64"))
      .map((mac) => mac.subarray(0, MAC_BYTES));
  const macOf = (bytes: Uint8Array): Buffer =>
    secrets
      .hash("refresh-token-mac", Buffer.from(bytes).toString("base64"))
      .subarray(0, MAC_BYTES);
  const tokenOf = (sessionId: string, content: Uint8Array): RefreshToken => {
    const id = parse(sessionId.slice(SESSION_PREFIX.length));
    const bytes = Buffer.concat([id, content]);
    const token = PREFIX + base62(Buffer.concat([bytes, macOf(bytes)]));
    return { token, hash: secrets.hash("refresh-token", token) };
  };
  return {
    make: (sessionId) => tokenOf(sessionId, randomBytes(RANDOM_BYTES)),
    successor: (sessionId, token) =>
      tokenOf(sessionId, secrets.hash("refresh-token-successor", token)),
    originHash: (request) => {
      if (request?.clientNetwork == null) return null;
      return secrets.hash(
        "refresh-origin",
        `${request.clientNetwork}\n${request.userAgent ?? ""}`,
      );
    },
    read: (token) => {
      const bytes = token.startsWith(PREFIX)
        ? fromBase62(token.slice(PREFIX.length), TOTAL_BYTES)
        : null;
      if (bytes === null) return null;
      const content = bytes.subarray(0, -MAC_BYTES);
      if (!macsOf(content).some((mac) => secrets.equals(mac, bytes.subarray(-MAC_BYTES))))
        return null;
      const sessionId = SESSION_PREFIX + stringify(bytes.subarray(0, ID_BYTES));
      const [hash, hashes] = [
        secrets.hash("refresh-token", token),
        secrets.hashes("refresh-token", token),
      ];
      return { sessionId, hash, hashes };
    },
  };
};

interface IssuedTokens extends AccessToken {
  readonly refreshToken: string;
}

export interface StartedSession {
  readonly sessionId: string;
  /** Null for a browser session, which next-auth's cookie renews. */
  readonly refreshToken: string | null;
}

export interface Sessions {
  /**
   * Starts a session. Mails the person when the device or the address range is new, except at the
   * very first sign-in.
   */
  start(tx: Tx, session: NewSession): Promise<StartedSession>;
  /**
   * Returns the subject of a token whose session is still alive.
   * @throws DomainError `unauthorized`
   */
  verifyAccessToken(token: string): Promise<TokenSubject>;
  /**
   * Replaces the refresh token. For 10 s after that, a repeated request with the old token gets an
   * equal successor, if it comes from the same user agent in the same network.
   * @throws DomainError `unauthorized`; any other second use of a token ends its session
   */
  refresh(refreshToken: string, request?: RequestContext | null): Promise<IssuedTokens>;
  isLive(sessionId: string): Promise<boolean>;
  accessTokenForSession(sessionId: string): Promise<AccessToken | null>;
  end(sessionId: string, request?: RequestContext | null): Promise<void>;
  /** The person's sessions that have not ended, newest first. */
  list(actor: UserActor): Promise<Session[]>;
  /**
   * Ends one session of the person, and suspends the keys and endpoints that the session made
   * without a further proof.
   * @throws DomainError `not_found` for a session that ended, or belongs to somebody else
   */
  revoke(actor: UserActor, sessionId: string): Promise<RevokedSession>;
  /**
   * Ends every session of the person except the calling one. Also suspends the API keys, webhook
   * endpoints and payout schedules that any other session of the person created without a further
   * proof. This includes sessions that had ended before, because a thief may already have signed
   * out.
   */
  revokeOthers(
    actor: UserActor,
  ): Promise<{ readonly ended: number; readonly suspended: readonly MadeThing[] }>;
}

interface RevokedSession {
  readonly id: string;
  readonly revokedAt: Date;
  readonly suspended: readonly MadeThing[];
}

interface NewSession {
  readonly userId: string;
  readonly kind: SessionKind;
  readonly request: RequestContext | null;
  /** How the person proved the sign-in; stored in the audit entry of the session. */
  readonly proof: Readonly<Record<string, string | number>>;
}

export interface SessionsDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly accessTokens: AccessTokens;
  readonly publicUrl: string;
  /** Mails the person once the transaction is committed, if they have a verified address. */
  readonly tell: (tx: Tx, userId: string, notice: PersonNotice) => Promise<void>;
  readonly sessionMade: Pick<SessionMadeService, "suspend">;
  readonly clock: Clock;
  readonly monotonicMs?: () => number;
}

const SESSION_SECONDS = 30 * 24 * 60 * 60;

const ended = (): DomainError =>
  new DomainError("unauthorized", "This session has ended. Sign in again.");

/**
 * How long after a rotation the old token is accepted again, from the same user agent in the same
 * network. A client may send the token twice, or lose the answer.
 */
const REPEAT_SECONDS = 10;
const TOUCH_SECONDS = 60;
const TOUCHED_MAX = 10_000;

/** Sessions and their tokens. An ended session is refused on every instance within a second. */
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
    const origin = {
      userAgent: request?.userAgent ?? null,
      clientAddress: request?.clientAddress ?? null,
    };
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
export const endSession = async (
  tx: Tx,
  id: string,
  { reason, at, by }: { readonly reason: string; readonly at: Date; readonly by?: By },
): Promise<Session | null> => {
  const session = await revokeSession(tx, id, at);
  if (session === null) return null;
  const entry = {
    projectId: null,
    actor: session.userId,
    request: null,
    ...by,
    subject: id,
    at,
  };
  await recordAudit(tx, { ...entry, action: "session.revoked", data: { reason } });
  announceEnded(tx, id);
  return session;
};

const createRefresh = (
  deps: SessionsDeps,
  refreshTokens: RefreshTokens,
  known: Known,
): Sessions["refresh"] => {
  const { database, clock, publicUrl } = deps;

  // Two parties hold the token and the thief cannot be identified, so the session ends for both
  // (RFC 9700, 4.14.2).
  const endReused = async (tx: Tx, id: string): Promise<void> => {
    const at = clock.now();
    const session = await endSession(tx, id, { reason: "refresh_token_reused", at });
    // An expired session refuses even its newest token. Nobody has used that token twice, so the
    // person gets no notice.
    if (session === null || session.expiresAt <= at) return;
    await deps.tell(tx, session.userId, reusedTokenNotice(session, at, publicUrl));
  };

  return async (token, request = null) => {
    const used = refreshTokens.read(token);
    if (!used) throw ended();
    const { sessionId: id, hash: from, hashes: fromAny } = used;
    const next = refreshTokens.successor(id, token);
    const now = clock.now();
    const rotation = {
      id,
      from,
      fromAny,
      to: next.hash,
      origin: refreshTokens.originHash(request),
      now,
    };
    const session = await database.transaction(async (tx) => {
      const since = addSeconds(now, -REPEAT_SECONDS);
      const renewed =
        (await rotateRefreshToken(tx, rotation)) ??
        (await findRotatedSession(tx, { ...rotation, since }));
      if (renewed === null) await endReused(tx, id);
      return renewed;
    });
    if (session === null) known.invalidate(id);
    if (session === null) throw ended();
    const minted = await deps.accessTokens.mint({
      userId: session.userId,
      sessionId: session.id,
    });
    return { ...minted, refreshToken: next.token };
  };
};

const createEnding = (
  { database, clock, sessionMade }: SessionsDeps,
  known: Known,
): Pick<Sessions, "end" | "revoke" | "revokeOthers"> => ({
  end: async (sessionId, request = null) => {
    const ending = { reason: "signed_out", at: clock.now(), by: { request } };
    await database.transaction((tx) => endSession(tx, sessionId, ending));
    known.invalidate(sessionId);
  },
  revoke: async (actor, sessionId) => {
    const at = clock.now();
    const session = isId("session", sessionId)
      ? await findSession(database.prisma, sessionId)
      : null;
    if (session?.userId !== actor.userId || session.expiresAt <= at) throw notFound();
    const suspended = await database.transaction(async (tx) => {
      const revoked = await endSession(tx, sessionId, {
        reason: "revoked",
        at,
        by: doneBy(actor),
      });
      return revoked === null ? null : sessionMade.suspend(tx, actor, { only: sessionId });
    });
    known.invalidate(sessionId);
    if (suspended === null) throw notFound();
    return { id: sessionId, revokedAt: at, suspended };
  },
  revokeOthers: async (actor) => {
    const at = clock.now();
    const by = doneBy(actor);
    const { revoked: others, suspended } = await database.transaction(async (tx) => {
      const live = await listLiveSessions(tx, actor.userId, at);
      const ids = live.flatMap(({ id }) => (id === actor.sessionId ? [] : [id]));
      const revoked: string[] = [];
      for (const id of ids)
        if (await endSession(tx, id, { reason: "revoked", at, by })) revoked.push(id);
      return {
        revoked,
        suspended: await sessionMade.suspend(tx, actor, { except: actor.sessionId }),
      };
    });
    for (const id of others) known.invalidate(id);
    return { ended: others.length, suspended };
  },
});

/** Writes `lastUsedAt` at most once a minute. No request waits for it. */
const createTouch = ({ database, clock }: SessionsDeps): ((id: string) => void) => {
  const touchedMs = new LRUCache<string, number>({ max: TOUCHED_MAX });
  return (id) => {
    const at = clock.now();
    if (at.getTime() - (touchedMs.get(id) ?? 0) < TOUCH_SECONDS * 1000) return;
    touchedMs.set(id, at.getTime());
    // A failed write is repeated a minute later; a request does not fail because of it.
    touchSession(database.prisma, {
      id,
      at,
      unlessSince: addSeconds(at, -TOUCH_SECONDS),
    }).catch(() => undefined);
  };
};

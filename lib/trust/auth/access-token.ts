import {
  calculateJwkThumbprint,
  type CryptoKey,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  importPKCS8,
  jwtVerify,
  type JWTVerifyGetKey,
  SignJWT,
} from "jose";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { createFreshCache } from "@/lib/core/fresh-cache";
import type { Database } from "@/lib/platform/db/client";
import type { Keyring } from "@/lib/platform/encryption/service";
import {
  deleteTokenKey,
  deleteTokenKeysBefore,
  insertFirstTokenKey,
  insertTokenKey,
  listTokenKeys,
  tokenKeyContext,
} from "./repository";
import { publicJwk, type PublicJwk, type TokenKey } from "./records";
import { v4 as uuidv4 } from "uuid";
import { z } from "zod";
import { LRUCache } from "lru-cache";
import { DomainError } from "@/lib/core/errors";

const TOKEN_ALGORITHM = "ES256";

export interface Jwk extends PublicJwk {
  readonly kid: string;
  readonly alg: string;
  readonly use: "sig";
}

interface LoadedKeys {
  readonly signing: { readonly kid: string; readonly key: CryptoKey };
  readonly verifying: ReadonlyMap<string, CryptoKey>;
  readonly jwks: readonly Jwk[];
}

interface TokenKeys {
  /** Returns the newest key, which signs new tokens. */
  signing(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /**
   * Returns the public key that verifies tokens with this `kid`; null when it is not in the
   * database.
   */
  verifying(kid: string): Promise<CryptoKey | null>;
  /** Whether the key with this `kid` still exists. Tokens of a removed key are refused. */
  isKept(kid: string): boolean | Promise<boolean>;
  /** Returns the public keys as JSON Web Keys (RFC 7517), newest first. */
  jwks(): Promise<readonly Jwk[]>;
}

interface TokenKeysDeps {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Clock that measures the age of cached keys. The default clock never goes back. */
  readonly monotonicMs?: () => number;
}

const KEYS_MAX = 10;
/**
 * Maximum age of the cached keys. After this time every instance refuses a removed key and no
 * longer signs with it.
 */
const EXPIRE_AFTER_MS = 20_000;
const REFRESH_AFTER_MS = 10_000;
/**
 * Minimum time between two look-ups of unknown `kid`s in the database, so that many tokens with
 * invented `kid`s cause few queries.
 */
const UNKNOWN_KID_MS = 1000;
const ALL = "all";

/**
 * The keys of access tokens: one row each, with the private part encrypted. The first key is
 * created when needed. When an operator adds another key, new tokens are signed with it; tokens of
 * older keys stay valid until they expire.
 */
export const createTokenKeys = (deps: TokenKeysDeps): TokenKeys => {
  const { keyring } = deps;
  const load = async (): Promise<LoadedKeys> => {
    const rows = await listTokenKeys(deps.database.prisma, KEYS_MAX);
    if (rows.length > 0) return open(rows, keyring);
    await insertFirstTokenKey(deps.database, await makeKey(keyring, deps.clock));
    return open(await listTokenKeys(deps.database.prisma, KEYS_MAX), keyring);
  };
  const cache = createFreshCache({
    load,
    refreshAfterMs: REFRESH_AFTER_MS,
    expireAfterMs: EXPIRE_AFTER_MS,
    ...(deps.monotonicMs ? { monotonicMs: deps.monotonicMs } : {}),
  });
  let lookedAgainMs = -Infinity;

  const verifying = async (kid: string): Promise<CryptoKey | null> => {
    const key = (await cache.get(ALL)).verifying.get(kid);
    if (key || performance.now() - lookedAgainMs < UNKNOWN_KID_MS) return key ?? null;
    lookedAgainMs = performance.now();
    cache.invalidate(ALL);
    return (await cache.get(ALL)).verifying.get(kid) ?? null;
  };
  return {
    signing: async () => (await cache.get(ALL)).signing,
    verifying,
    isKept: (kid) => {
      const loaded = cache.get(ALL);
      return loaded instanceof Promise
        ? loaded.then(({ verifying: kept }) => kept.has(kid))
        : loaded.verifying.has(kid);
    },
    jwks: async () => (await cache.get(ALL)).jwks,
  };
};

/** Adds a key. Instances sign access tokens with it as soon as they read it. @returns its kid */
export const addTokenKey = async (
  deps: Pick<TokenKeysDeps, "database" | "keyring" | "clock">,
): Promise<string> => {
  const key = await makeKey(deps.keyring, deps.clock);
  await insertTokenKey(deps.database.prisma, key);
  return key.kid;
};

/**
 * Refuses tokens of this key from now on. If it is the newest key, another key is created first,
 * so that sign-ins continue.
 * @returns false when there is no such key
 */
export const removeTokenKey = async (
  deps: Pick<TokenKeysDeps, "database" | "keyring" | "clock">,
  kid: string,
): Promise<boolean> => {
  const [newest] = await listTokenKeys(deps.database.prisma, 1);
  if (newest?.kid === kid) await addTokenKey(deps);
  return deleteTokenKey(deps.database.prisma, kid);
};

/**
 * Removes the keys whose tokens have all expired, which are the keys that were replaced longer ago
 * than a token's lifetime.
 * @returns their kids
 */
export const removeSpentTokenKeys = async (
  deps: Pick<TokenKeysDeps, "database" | "clock">,
  tokenSeconds: number,
): Promise<readonly string[]> => {
  // Adds the lifetime of the cache, because an instance may sign with a replaced key until its
  // cache expires.
  const takenOverBefore = addSeconds(deps.clock.now(), -tokenSeconds - EXPIRE_AFTER_MS / 1000);
  const rows = await listTokenKeys(deps.database.prisma, KEYS_MAX);
  const successor = rows.find(({ createdAt }) => createdAt < takenOverBefore);
  return successor === undefined
    ? []
    : deleteTokenKeysBefore(deps.database.prisma, successor.createdAt);
};

const makeKey = async (keyring: Keyring, clock: Clock): Promise<TokenKey> => {
  const pair = await generateKeyPair(TOKEN_ALGORITHM, { extractable: true });
  const jwk = publicJwk.parse(await exportJWK(pair.publicKey));
  const kid = await calculateJwkThumbprint(jwk);
  const sealed = keyring.seal(
    Buffer.from(await exportPKCS8(pair.privateKey)),
    tokenKeyContext(kid),
  );
  return { kid, publicJwk: jwk, sealed, createdAt: clock.now() };
};

const open = async (rows: readonly TokenKey[], keyring: Keyring): Promise<LoadedKeys> => {
  const [newest] = rows;
  if (!newest)
    throw new Error("The database has no key for access tokens, although one was just made.");
  const keys = await Promise.all(
    rows.map(async ({ kid, publicJwk: stored }) => {
      const jwk: Jwk = { ...stored, kid, alg: TOKEN_ALGORITHM, use: "sig" };
      const key = await importJWK({ ...jwk }, TOKEN_ALGORITHM);
      if (key instanceof Uint8Array) throw new Error(`Token key ${kid} is not a public key.`);
      return { jwk, key };
    }),
  );
  return {
    signing: { kid: newest.kid, key: await openPrivate(newest, keyring) },
    verifying: new Map(keys.map(({ jwk, key }) => [jwk.kid, key])),
    jwks: keys.map(({ jwk }) => jwk),
  };
};

const openPrivate = async ({ kid, sealed }: TokenKey, keyring: Keyring): Promise<CryptoKey> => {
  let pkcs8: string;
  try {
    pkcs8 = keyring.open(sealed, tokenKeyContext(kid)).toString();
  } catch {
    throw new Error(
      `The token key ${kid} cannot be decrypted: KEY_ENCRYPTION_KEY is not the one it was stored under (${sealed.kekId}).`,
    );
  }
  return importPKCS8(pkcs8, TOKEN_ALGORITHM);
};

export const ACCESS_TOKEN_SECONDS = 3600;
const ACCESS_TOKEN_AUDIENCE = "causeway-api";
const TYPE = "at+jwt";
const VERIFIED_MAX = 10_000;
const TOKEN_LENGTH_MAX = 4096;

const claims = z.object({ sub: z.string(), sid: z.string(), exp: z.int() });

export interface AccessToken {
  readonly accessToken: string;
  readonly expiresAt: Date;
}

export interface TokenSubject {
  readonly userId: string;
  readonly sessionId: string;
  readonly expiresAt: Date;
}

interface Verified {
  readonly subject: TokenSubject;
  readonly kid: string;
}

export interface AccessTokens {
  mint(subject: { readonly userId: string; readonly sessionId: string }): Promise<AccessToken>;
  /**
   * Verifies the token and returns its subject. Does not check whether the session is still alive.
   * @throws DomainError `unauthorized`
   */
  verify(token: string): Promise<TokenSubject>;
}

interface AccessTokensDeps {
  readonly keys: TokenKeys;
  readonly clock: Clock;
  /** Issuer of the tokens (claim `iss`): origin of the app. */
  readonly issuer: string;
}

const unauthorized = (cause?: unknown): DomainError =>
  new DomainError(
    "unauthorized",
    "The access token is not valid here, or has expired. Refresh it or sign in again.",
    {
      cause,
    },
  );

/** JWT access tokens (RFC 9068 profile: `typ` at+jwt, `iss`, `aud`, `exp`), ES256, one hour. */
export const createAccessTokens = ({ keys, clock, issuer }: AccessTokensDeps): AccessTokens => {
  const verified = new LRUCache<string, Verified>({ max: VERIFIED_MAX });

  const keyOf: JWTVerifyGetKey = async ({ kid }) => {
    const key = kid === undefined ? null : await keys.verifying(kid);
    if (key === null) throw unauthorized();
    return key;
  };

  const verifySignature = async (token: string): Promise<Verified> => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keyOf, {
        algorithms: [TOKEN_ALGORITHM],
        typ: TYPE,
        issuer,
        audience: ACCESS_TOKEN_AUDIENCE,
        requiredClaims: ["sub", "sid", "exp"],
        currentDate: clock.now(),
      });
      const { sub, sid, exp } = claims.parse(payload);
      const subject = { userId: sub, sessionId: sid, expiresAt: new Date(exp * 1000) };
      return { subject, kid: protectedHeader.kid ?? "" };
    } catch (error) {
      throw refusalOf(error);
    }
  };

  return {
    mint: async ({ userId, sessionId }) => {
      const { kid, key } = await keys.signing();
      const issuedAt = Math.floor(clock.now().getTime() / 1000);
      const expiresAt = addSeconds(new Date(issuedAt * 1000), ACCESS_TOKEN_SECONDS);
      const accessToken = await new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ: TYPE, kid })
        .setIssuer(issuer)
        .setAudience(ACCESS_TOKEN_AUDIENCE)
        .setSubject(userId)
        .setJti(uuidv4())
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      return { accessToken, expiresAt };
    },
    verify: async (token) => {
      const known = verified.get(token);
      if (known && known.subject.expiresAt > clock.now() && (await keys.isKept(known.kid)))
        return known.subject;
      if (known) verified.delete(token);
      if (token.length > TOKEN_LENGTH_MAX) throw unauthorized();
      const read = await verifySignature(token);
      verified.set(token, read);
      return read.subject;
    },
  };
};

/** Errors of jose and zod mean an invalid token (`unauthorized`); a database error does not. */
const refusalOf = (error: unknown): unknown => {
  const ofToken =
    error instanceof z.ZodError ||
    (error instanceof Error && "code" in error && isJoseCode(error.code));
  return ofToken ? unauthorized(error) : error;
};

const isJoseCode = (code: unknown): boolean =>
  typeof code === "string" && /^ERR_J[A-Z]+_/.test(code);

import { jwtVerify, SignJWT, type JWTVerifyGetKey } from "jose";
import { v4 as uuidv4 } from "uuid";
import { z } from "zod";
import { LRUCache } from "lru-cache";
import type { Clock } from "@/lib/core/clock";
import { addSeconds } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { TOKEN_ALGORITHM, type TokenKeys } from "./token-keys";

export const ACCESS_TOKEN_SECONDS = 3600;
export const ACCESS_TOKEN_AUDIENCE = "causeway-api";
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
   * Verifies the token and returns its subject; whether the session is still alive is checked elsewhere.
   * @throws DomainError `unauthorized`
   */
  verify(token: string): Promise<TokenSubject>;
}

export interface AccessTokensDeps {
  readonly keys: TokenKeys;
  readonly clock: Clock;
  /** `iss`: origin of the app. */
  readonly issuer: string;
}

const unauthorized = (cause?: unknown): DomainError =>
  new DomainError("unauthorized", "The access token is not valid here, or has expired. Refresh it or sign in again.", {
    cause,
  });

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
      if (known && known.subject.expiresAt > clock.now() && (await keys.isKept(known.kid))) return known.subject;
      if (known) verified.delete(token);
      if (token.length > TOKEN_LENGTH_MAX) throw unauthorized();
      const read = await verifySignature(token);
      verified.set(token, read);
      return read.subject;
    },
  };
};

/** Errors of jose and zod mean a bad token (`unauthorized`); an error of the database does not. */
const refusalOf = (error: unknown): unknown => {
  const ofToken = error instanceof z.ZodError || (error instanceof Error && "code" in error && isJoseCode(error.code));
  return ofToken ? unauthorized(error) : error;
};

const isJoseCode = (code: unknown): boolean => typeof code === "string" && /^ERR_J[A-Z]+_/.test(code);

import { isIP } from "node:net";
import type { DefaultSession, NextAuthOptions } from "next-auth";
import { decode, type JWT, type JWTDecodeParams } from "next-auth/jwt";
import CredentialsProvider from "next-auth/providers/credentials";
import { z } from "zod";
import { getServices } from "@/lib/composition";
import { INVITATION_TOKEN_LENGTH_MAX, SIGNATURE_LENGTH_MAX } from "@/lib/contracts/auth";
import { passkeyAssertion } from "@/lib/contracts/passkey-records";
import { isDomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { parseUrl } from "@/lib/core/redaction";
import type { RequestContext } from "@/lib/core/actor";
import { getLogger, loggedError } from "@/lib/platform/log/logger";
import { requestContext } from "./input";

declare module "next-auth" {
  interface Session {
    user?: DefaultSession["user"];
    userId: string;
    /** Checksummed. */
    address: string;
    /** Bearer token for the API; missing once the session has ended. */
    accessToken?: string;
    /** RFC 3339. */
    accessTokenExpiresAt?: string;
  }
  interface User {
    sessionId: string;
    address: string;
    accessToken: string;
    accessTokenExpiresAt: string;
  }
}

declare module "next-auth/jwt" {
  interface JWT {
    userId?: string;
    sessionId?: string;
    address?: string;
    accessToken?: string;
    accessTokenExpiresAt?: string;
  }
}

const SESSION_SECONDS = 30 * 24 * 60 * 60;
const ASSERTION_LENGTH_MAX = 12_000;
const RENEW_BEFORE_MS = 5 * 60_000;

const credentials = z.object({
  message: z.string().max(4096),
  signature: z.string().max(SIGNATURE_LENGTH_MAX),
  invitation: z.string().max(INVITATION_TOKEN_LENGTH_MAX).optional(),
});

type Auth = ReturnType<typeof getServices>["auth"];

/**
 * The origin of a sign-in, for records. The server in front of the pages writes one address into
 * `x-forwarded-for`: the caller behind the trusted proxies.
 */
const originOf = (headers: Readonly<Record<string, unknown>>): RequestContext => {
  const { "user-agent": userAgent, "x-forwarded-for": forwarded } = headers;
  const address = typeof forwarded === "string" && isIP(forwarded) !== 0 ? forwarded : "";
  return requestContext(
    newId("request"),
    address,
    typeof userAgent === "string" ? userAgent : null,
  );
};

/**
 * Signs in with a wallet by the rules of `POST /auth/token`: the nonce comes from `POST
 * /auth/nonce` and is stored in the database. Null when the input is malformed.
 */
const signIn = (input: unknown, headers: Readonly<Record<string, unknown>> = {}) => {
  const parsed = credentials.safeParse(input);
  if (!parsed.success) return null;
  return asUser((auth) =>
    auth.signIn({ ...parsed.data, kind: "browser", request: originOf(headers) }),
  );
};

const assertionOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/**
 * Signs in with a passkey by the rules of `POST /auth/passkey/token`. Null when the input is
 * malformed.
 */
const signInByPasskey = (input: unknown, headers: Readonly<Record<string, unknown>> = {}) => {
  const text = z.object({ credential: z.string().max(ASSERTION_LENGTH_MAX) }).safeParse(input);
  const parsed = passkeyAssertion.safeParse(
    text.success ? assertionOf(text.data.credential) : null,
  );
  if (!parsed.success) return null;
  return asUser((auth) =>
    auth.signInByPasskey({
      credential: parsed.data,
      kind: "browser",
      request: originOf(headers),
    }),
  );
};

const asUser = async (enter: (auth: Auth) => ReturnType<Auth["signIn"]>) => {
  const { auth, config } = getServices();
  try {
    const signedIn = await enter(auth);
    return {
      id: signedIn.userId,
      sessionId: signedIn.sessionId,
      address: signedIn.address,
      accessToken: signedIn.accessToken,
      accessTokenExpiresAt: signedIn.expiresAt.toISOString(),
    };
  } catch (error) {
    if (!isDomainError(error))
      getLogger(config.logLevel).error({ err: loggedError(error) }, "sign-in failed");
    // next-auth shows an error's message in its redirect, and the page needs only the code.
    throw new Error(isDomainError(error) ? error.code : "internal_error", { cause: error });
  }
};

/** The cookie of an ended session names the person but contains no token. */
const withoutAccess = (token: JWT): JWT => {
  const rest = { ...token };
  delete rest.accessToken;
  delete rest.accessTokenExpiresAt;
  return rest;
};

/**
 * Whether the token is still accepted. False when its signing key was removed, even if the token
 * has not expired.
 */
const isTaken = (accessToken: string | undefined): Promise<boolean> =>
  getServices()
    .auth.verifyAccessToken(accessToken ?? "")
    .then(
      () => true,
      (error: unknown) => {
        if (isDomainError(error) && error.code === "unauthorized") return false;
        throw error;
      },
    );

/**
 * Renews the access token in the cookie while the session lives, and removes it once the session
 * has ended.
 */
const renew = async (token: JWT): Promise<JWT> => {
  const { auth, clock } = getServices();
  if (token.sessionId === undefined || !(await auth.isLive(token.sessionId)))
    return withoutAccess(token);
  const expiresMs =
    token.accessTokenExpiresAt === undefined ? 0 : Date.parse(token.accessTokenExpiresAt);
  if (expiresMs - clock.now().getTime() > RENEW_BEFORE_MS && (await isTaken(token.accessToken)))
    return token;
  const minted = await auth.accessTokenForSession(token.sessionId);
  if (minted === null) return withoutAccess(token);
  return {
    ...token,
    accessToken: minted.accessToken,
    accessTokenExpiresAt: minted.expiresAt.toISOString(),
  };
};

/**
 * Resolves a URL against the app's public origin instead of the address that next-auth detects.
 * Never leads to another site.
 */
const redirectWithin = (url: string, publicUrl: string): string => {
  const target = parseUrl(url, publicUrl);
  return target?.origin === new URL(publicUrl).origin ? target.href : publicUrl;
};

/**
 * Decodes a session cookie with the first secret that fits. A cookie from before a change of
 * APP_SECRET therefore stays valid, and its next use encrypts it under the current secret.
 */
const decodeWith =
  (secrets: readonly string[]) =>
  async (params: JWTDecodeParams): Promise<JWT | null> => {
    for (const secret of secrets) {
      const token = await decode({ ...params, secret }).catch(() => null);
      if (token !== null) return token;
    }
    return null;
  };

/**
 * Behind TLS each cookie's name begins with `__Host-`: a browser accepts such a cookie only from
 * this host, over https, for every path, so no other host of the domain can plant one. On plain
 * http the prefix is impossible, because it requires `Secure`.
 */
const cookiesOf = (publicUrl: string): NonNullable<NextAuthOptions["cookies"]> => {
  const secure = publicUrl.startsWith("https://");
  const cookie = (name: string) => ({
    name: `${secure ? "__Host-" : ""}next-auth.${name}`,
    options: { httpOnly: true, sameSite: "lax", path: "/", secure },
  });
  return {
    sessionToken: cookie("session-token"),
    callbackUrl: cookie("callback-url"),
    csrfToken: cookie("csrf-token"),
  };
};

/**
 * Options of next-auth 4 for the dashboard. Created on demand, because no services exist while Next
 * builds.
 */
export const authOptions = (): NextAuthOptions => {
  const { auth } = getServices();
  const { secrets, publicUrl } = auth.browser;
  return {
    ...(secrets[0] === undefined ? {} : { secret: secrets[0] }),
    jwt: { decode: decodeWith(secrets) },
    session: { strategy: "jwt", maxAge: SESSION_SECONDS },
    useSecureCookies: publicUrl.startsWith("https://"),
    cookies: cookiesOf(publicUrl),
    pages: { signIn: "/sign-in", error: "/sign-in" },
    providers: [
      CredentialsProvider({
        id: "credentials",
        name: "Ethereum",
        credentials: {
          message: { type: "text" },
          signature: { type: "text" },
          invitation: { type: "text" },
        },
        authorize: (input, request) => signIn(input, request.headers),
      }),
      CredentialsProvider({
        id: "passkey",
        name: "Passkey",
        credentials: { credential: { type: "text" } },
        authorize: (input, request) => signInByPasskey(input, request.headers),
      }),
    ],
    callbacks: {
      redirect: ({ url }) => redirectWithin(url, publicUrl),
      jwt: ({ token, user, trigger }) => {
        if (trigger !== "signIn") return renew(token);
        const { id: userId, sessionId, address, accessToken, accessTokenExpiresAt } = user;
        return { sub: userId, userId, sessionId, address, accessToken, accessTokenExpiresAt };
      },
      session: ({ session, token }) => ({
        expires: session.expires,
        userId: token.userId ?? "",
        address: token.address ?? "",
        ...(token.accessToken === undefined
          ? {}
          : {
              accessToken: token.accessToken,
              accessTokenExpiresAt: token.accessTokenExpiresAt,
            }),
      }),
    },
    events: {
      signOut: async ({ token }) => {
        if (token.sessionId !== undefined) await auth.logout(token.sessionId);
      },
    },
    logger: quietLogger(),
  };
};

/**
 * next-auth would log to the console, including stack traces of refused sign-ins. Its errors go to
 * the service's log instead.
 */
const quietLogger = (): NonNullable<NextAuthOptions["logger"]> => {
  const logger = getLogger(getServices().config.logLevel);
  return {
    error: (code) => logger.warn({ code }, "next-auth reports an error"),
    warn: (code) => logger.debug({ code }, "next-auth warns"),
    debug: () => undefined,
  };
};

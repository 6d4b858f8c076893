import { createHmac } from "node:crypto";
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from "jose";
import { beforeAll, expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import type { RequestContext } from "@/lib/core/actor";
import type { Database } from "@/lib/platform/db/client";
import {
  createAuthServices,
  movableClock,
  TEST_KEY_ENCRYPTION_KEY,
  TEST_PUBLIC_URL,
} from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { createKeyring } from "@/lib/platform/encryption/service";
import { createTokenKeys } from "./access-token";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const setUp = (time = movableClock()) => ({
  ...createAuthServices({ database, time }),
  ...time,
});

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

test("the JWKS verifies an access token, which has type, issuer, audience and a lifetime of one hour", async () => {
  const { auth, signIn } = setUp();
  const { accessToken, userId, sessionId } = await signIn();
  const { keys } = await auth.jwks();
  expect(keys.flatMap((key) => Object.keys(key))).not.toContain("d");
  const { protectedHeader } = await jwtVerify(
    accessToken,
    createLocalJWKSet({ keys: keys.map((key) => ({ ...key })) }),
    {
      issuer: TEST_PUBLIC_URL,
      audience: "causeway-api",
      currentDate: new Date("2026-01-01T00:00:01Z"),
    },
  );
  expect(protectedHeader).toEqual({ alg: "ES256", typ: "at+jwt", kid: keys[0]?.kid });
  const { sub, sid, exp = 0, iat = 0, jti } = decodeJwt(accessToken);
  expect({ sub, sid, lives: exp - iat }).toEqual({ sub: userId, sid: sessionId, lives: 3600 });
  expect(jti).toMatch(/^[0-9a-f-]{36}$/);
});

test("a forged access token is refused", async () => {
  const { auth, signIn } = setUp();
  const { accessToken, userId, sessionId } = await signIn();
  const { kid = "" } = decodeProtectedHeader(accessToken);
  const payload = decodeJwt(accessToken);
  const { privateKey } = await generateKeyPair("ES256");
  const forge = (
    header: Record<string, string>,
    key: Parameters<SignJWT["sign"]>[0] = privateKey,
  ) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid, ...header })
      .sign(key);
  const [head = "", body = "", signature = ""] = accessToken.split(".");
  const { publicKey } = await generateKeyPair("ES256");
  const changed = Buffer.from(JSON.stringify({ ...payload, sub: "usr_other" })).toString(
    "base64url",
  );
  const none = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt", kid })).toString(
    "base64url",
  );
  const forged: Record<string, string> = {
    "alg none": new UnsecuredJWT(payload).encode(),
    "alg none with our kid": `${none}.${body}.`,
    "another key under our kid": await forge({}),
    "another kid": await forge({ kid: "other" }),
    "an HMAC with a guessed key": await forge(
      { alg: "HS256" },
      new TextEncoder().encode(JSON.stringify(publicKey).padEnd(32)),
    ),
    "a changed body": `${head}.${changed}.${signature}`,
    "no signature": `${head}.${body}.`,
    "no token": "abc",
    nothing: "",
    "too long": `${accessToken}${"a".repeat(5000)}`,
  };
  for (const [what, token] of Object.entries(forged)) {
    expect([what, await codeOf(auth.verifyAccessToken(token))]).toEqual([what, "unauthorized"]);
  }
  expect(await auth.verifyAccessToken(accessToken)).toMatchObject({ userId, sessionId });
});

/** A JWT with an HMAC, built manually because libraries refuse some of these keys. */
const hmacToken = (header: object, payload: object, key: string | Uint8Array): string => {
  const part = (content: object): string =>
    Buffer.from(JSON.stringify(content)).toString("base64url");
  const signed = `${part(header)}.${part(payload)}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
};

test("an access token whose HMAC was made with our public key is refused, in each form of that key (algorithm confusion)", async () => {
  const { auth, signIn } = setUp();
  const { accessToken } = await signIn();
  const { kid = "" } = decodeProtectedHeader(accessToken);
  const payload = decodeJwt(accessToken);
  const jwks = await auth.jwks();
  const [own] = jwks.keys;
  const pem = await exportSPKI((await importJWK({ ...own }, "ES256")) as CryptoKey);
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64");
  const { x = "", y = "" } = { ...own } as { x?: string; y?: string };
  const keys: Record<string, string | Uint8Array> = {
    "the JWK": JSON.stringify(own),
    "the key set": JSON.stringify(jwks),
    PEM: pem,
    "PEM without its last line end": pem.trim(),
    DER: der,
    "the point": Buffer.concat([
      Buffer.from([4]),
      Buffer.from(x, "base64url"),
      Buffer.from(y, "base64url"),
    ]),
    nothing: "",
  };
  for (const [what, key] of Object.entries(keys))
    for (const header of [
      { alg: "HS256", typ: "at+jwt", kid },
      { alg: "HS256", typ: "at+jwt" },
    ]) {
      const token = hmacToken(header, payload, key);
      expect([what, await codeOf(auth.verifyAccessToken(token))]).toEqual([
        what,
        "unauthorized",
      ]);
    }
});

test("an access token that brings or names its own key is refused", async () => {
  const { auth, signIn } = setUp();
  const { accessToken } = await signIn();
  const { kid = "" } = decodeProtectedHeader(accessToken);
  const payload = decodeJwt(accessToken);
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  const brought = [
    { jwk, kid },
    { jwk },
    { jku: "https://evil.example/jwks.json", kid },
    { x5u: "https://evil.example/chain.pem", kid },
    { kid: "../../../../dev/null" },
    { kid: "' OR 1=1 --" },
  ];
  for (const header of brought) {
    const token = await new SignJWT(payload)
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", ...header })
      .sign(privateKey);
    expect([header, await codeOf(auth.verifyAccessToken(token))]).toEqual([
      header,
      "unauthorized",
    ]);
  }
});

test("a well-signed access token of another type, issuer or audience, or expired, or without a session, is refused", async () => {
  const { auth, signIn, clock } = setUp();
  const { accessToken } = await signIn();
  const { kid = "" } = decodeProtectedHeader(accessToken);
  const payload = decodeJwt(accessToken);
  const { key } = await createTokenKeys({
    database,
    keyring: createKeyring([TEST_KEY_ENCRYPTION_KEY]),
    clock,
  }).signing();
  const sign = (claims: Record<string, unknown>, typ = "at+jwt") =>
    new SignJWT({ ...payload, ...claims })
      .setProtectedHeader({ alg: "ES256", typ, kid })
      .sign(key);
  expect(await codeOf(sign({}).then((token) => auth.verifyAccessToken(token)))).toBe("ok");
  const refused: Record<string, Promise<string>> = {
    type: sign({}, "JWT"),
    issuer: sign({ iss: "http://evil.example" }),
    audience: sign({ aud: "other-api" }),
    expired: sign({ exp: Math.floor(clock.now().getTime() / 1000) }),
    "no expiry": sign({ exp: undefined }),
    "no session": sign({ sid: undefined }),
    "a session that is not there": sign({ sid: "ses_01980000-0000-7000-8000-000000000000" }),
    "another person's session": sign({ sub: "usr_other" }),
  };
  for (const [what, token] of Object.entries(refused)) {
    expect([what, await codeOf(auth.verifyAccessToken(await token))]).toEqual([
      what,
      "unauthorized",
    ]);
  }
});

test("an access token ends after an hour, cached or not", async () => {
  const { auth, signIn, advance } = setUp();
  const { accessToken } = await signIn();
  advance(3599);
  expect(await codeOf(auth.verifyAccessToken(accessToken))).toBe("ok");
  advance(1);
  expect(await codeOf(auth.verifyAccessToken(accessToken))).toBe("unauthorized");
});

test("twenty instances that start at once share one signing key, which is stored encrypted", async () => {
  const { database: fresh } = await testDatabase();
  const instances = Array.from({ length: 20 }, () => createAuthServices({ database: fresh }));
  const kids = await Promise.all(
    instances.map(async ({ auth }) => (await auth.jwks()).keys.map(({ kid }) => kid)),
  );
  expect(new Set(kids.flat()).size).toBe(1);
  const rows = await fresh.prisma.tokenKey.findMany();
  expect(rows).toHaveLength(1);
  expect(Buffer.from(rows[0]?.privateEncrypted ?? []).toString("latin1")).not.toContain(
    "PRIVATE KEY",
  );
  const other = createAuthServices({ database: fresh, keyEncryptionKey: Buffer.alloc(32, 9) });
  await expect(other.auth.jwks()).rejects.toThrow(/KEY_ENCRYPTION_KEY is not the one/);
});

test("a session that ended on one instance is refused on every other within a second, and at once on the same", async () => {
  const time = movableClock();
  const [here, there] = [setUp(time), setUp(time)];
  const { accessToken, sessionId } = await here.signIn();
  expect(await codeOf(there.auth.verifyAccessToken(accessToken))).toBe("ok");
  await here.auth.logout(sessionId);
  expect(await codeOf(here.auth.verifyAccessToken(accessToken))).toBe("unauthorized");
  time.advance(1);
  expect(await codeOf(there.auth.verifyAccessToken(accessToken))).toBe("unauthorized");
  expect(await there.auth.accessTokenForSession(sessionId)).toBeNull();
  expect(await there.auth.isLive(sessionId)).toBe(false);
});

test("a browser session gives fresh access tokens for thirty days", async () => {
  const { auth, signIn, newAccount, advance } = setUp();
  const { sessionId, userId, refreshToken } = await signIn(newAccount(), "browser");
  expect(refreshToken).toBeNull();
  advance(30 * 24 * 3600 - 1);
  const minted = await auth.accessTokenForSession(sessionId);
  expect(await auth.verifyAccessToken(minted?.accessToken ?? "")).toMatchObject({
    userId,
    sessionId,
  });
  advance(1);
  expect(await auth.accessTokenForSession(sessionId)).toBeNull();
});

test("a refresh token is exchanged once; the new one goes on", async () => {
  const { auth, signIn } = setUp();
  const { refreshToken, userId } = await signIn();
  const second = await auth.refresh(refreshToken ?? "");
  expect(second.refreshToken).not.toBe(refreshToken);
  const third = await auth.refresh(second.refreshToken);
  expect(await auth.verifyAccessToken(third.accessToken)).toMatchObject({ userId });
});

test("a refresh token used twice ends the session, however many times it was rotated since", async () => {
  const { auth, signIn, advance } = setUp();
  const stolen = (await signIn()).refreshToken ?? "";
  const second = await auth.refresh(stolen);
  const third = await auth.refresh(second.refreshToken);
  expect(await codeOf(auth.refresh(stolen))).toBe("unauthorized");
  advance(1);
  expect(await codeOf(auth.refresh(third.refreshToken))).toBe("unauthorized");
  expect(await codeOf(auth.verifyAccessToken(third.accessToken))).toBe("unauthorized");
});

const from = (clientNetwork: string | null, userAgent = "App/1.0"): RequestContext => ({
  requestId: "req_1",
  clientAddress: clientNetwork,
  clientNetwork,
  userAgent,
});
const HOME = from("203.0.113.7");

test("twenty concurrent uses of one refresh token by one caller give the same new token to each, and the session goes on", async () => {
  const { auth, signIn, advance } = setUp();
  const { refreshToken } = await signIn();
  const given = await Promise.all(
    Array.from({ length: 20 }, () => auth.refresh(refreshToken ?? "", HOME)),
  );
  const [next = "", ...others] = [...new Set(given.map((tokens) => tokens.refreshToken))];
  expect(others).toEqual([]);
  // Repeats a request whose answer was lost.
  advance(10);
  expect((await auth.refresh(refreshToken ?? "", HOME)).refreshToken).toBe(next);
  const third = await auth.refresh(next, HOME);
  expect(await codeOf(auth.verifyAccessToken(third.accessToken))).toBe("ok");
});

test.each<[string, RequestContext | null, RequestContext | null, number]>([
  ["from another network", HOME, from("198.51.100.9"), 0],
  ["from another user agent", HOME, from("203.0.113.7", "curl/8"), 0],
  ["from an unknown network", HOME, null, 0],
  ["where no network is known", from(null), from(null), 0],
  ["more than ten seconds later", HOME, HOME, 10.001],
])(
  "a second use of a refresh token %s ends the session",
  async (_what, first, second, seconds) => {
    const { auth, signIn, advance } = setUp();
    const { refreshToken } = await signIn();
    const next = await auth.refresh(refreshToken ?? "", first);
    advance(seconds);
    expect(await codeOf(auth.refresh(refreshToken ?? "", second))).toBe("unauthorized");
    advance(1);
    expect(await codeOf(auth.refresh(next.refreshToken, first))).toBe("unauthorized");
    expect(await codeOf(auth.verifyAccessToken(next.accessToken))).toBe("unauthorized");
  },
);

test("a token whose successor was used is not taken again, however soon and from wherever", async () => {
  const { auth, signIn } = setUp();
  const { refreshToken } = await signIn();
  const second = await auth.refresh(refreshToken ?? "", HOME);
  const third = await auth.refresh(second.refreshToken, HOME);
  expect(await codeOf(auth.refresh(refreshToken ?? "", HOME))).toBe("unauthorized");
  expect(await codeOf(auth.refresh(third.refreshToken, HOME))).toBe("unauthorized");
});

test("of twenty concurrent uses of one refresh token by unknown callers one gets a new token", async () => {
  const { auth, signIn } = setUp();
  const { refreshToken } = await signIn();
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () => codeOf(auth.refresh(refreshToken ?? ""))),
  );
  expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "unauthorized")).toHaveLength(19);
});

test("a made-up refresh token is refused and ends nobody's session", async () => {
  const { auth, signIn, sessions } = { ...setUp(), sessions: database.prisma.session };
  const { refreshToken, sessionId } = await signIn();
  const token = refreshToken ?? "";
  const last = token.endsWith("a") ? "b" : "a";
  for (const guess of [
    "",
    "cw_rt_",
    "abc",
    token.slice(0, -1) + last,
    `${token}a`,
    token.replace("cw_rt_", "cw_xx_"),
  ]) {
    expect(await codeOf(auth.refresh(guess))).toBe("unauthorized");
  }
  expect((await sessions.findUniqueOrThrow({ where: { id: sessionId } })).revokedAt).toBeNull();
  expect(await codeOf(auth.refresh(token))).toBe("ok");
});

test("the database has no token in clear text", async () => {
  const { signIn } = setUp();
  const { refreshToken, sessionId } = await signIn();
  const row = await database.prisma.session.findUniqueOrThrow({ where: { id: sessionId } });
  expect(row.refreshHash).toHaveLength(32);
  expect(JSON.stringify(row)).not.toContain(refreshToken);
});

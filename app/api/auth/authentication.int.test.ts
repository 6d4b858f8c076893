import { generateKeyPair, SignJWT, UnsecuredJWT, decodeJwt, decodeProtectedHeader } from "jose";
import { createSiweMessage } from "viem/siwe";
import { beforeAll, expect, test } from "vitest";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testAccount, testEmail } from "@/lib/dev/testing/factories";

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ devnet: false });
});

type Headers = Readonly<Record<string, string>>;

const send = async (method: string, path: string, headers: Headers = {}, body?: unknown) => {
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Headers = body === undefined ? {} : { "content-type": "application/json" };
  const response = await api.fetch(path, {
    method,
    headers: { ...type, ...headers },
    ...content,
  });
  const json = (await response.json()) as Record<string, unknown> & { code?: string };
  return { status: response.status, code: json.code, body: json };
};

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** Routes of each kind: for people alone, and for members and keys. */
const PERSONAL = "/auth/api-keys";
const MEMBER = "/wallets";

test("a caller without valid credentials gets 401", async () => {
  const refused: Record<string, Headers> = {
    nothing: {},
    "an empty key": { "x-api-key": "" },
    "a malformed key": { "x-api-key": "cw_test_abc" },
    "a key of somebody's making": { "x-api-key": `cw_test_${"A".repeat(49)}` },
    "another scheme": { authorization: "Basic YTpi" },
    "no token": { authorization: "Bearer" },
    "no real token": bearer("abc.def.ghi"),
  };
  for (const path of [PERSONAL, MEMBER]) {
    for (const [what, headers] of Object.entries(refused)) {
      const { status, code, body } = await send("GET", path, headers);
      expect([path, what, status, code]).toEqual([path, what, 401, "unauthorized"]);
      expect(body.message).toEqual(expect.any(String));
      expect(body.requestId).toMatch(/^req_/);
    }
  }
});

test("a key with networks is refused from any other address, on routes for keys and on those for people", async () => {
  const session = await api.signIn();
  const { secret } = await api.createKey(session, { networks: ["203.0.113.0/24"] });
  const from = (address: string): Headers => ({
    "x-api-key": secret,
    "x-forwarded-for": address,
  });
  expect(await send("GET", MEMBER, from("203.0.113.8"))).toMatchObject({ status: 200 });
  const refused = await send("GET", MEMBER, from("198.51.100.8"));
  expect(refused).toMatchObject({ status: 403, code: "forbidden" });
  expect(refused.body.message).toContain("198.51.100.8");
  // An entry that the caller put in front proves nothing.
  expect(await send("GET", MEMBER, from("203.0.113.8, 198.51.100.8"))).toMatchObject({
    status: 403,
  });
  expect(await send("GET", PERSONAL, from("198.51.100.8"))).toMatchObject({ status: 403 });
});

test("a caller with a token of alg none, another key, audience or time gets 401", async () => {
  const { accessToken } = await api.signIn();
  const payload = decodeJwt(accessToken);
  const { kid = "" } = decodeProtectedHeader(accessToken);
  const { privateKey } = await generateKeyPair("ES256");
  const sign = (claims: object) =>
    new SignJWT({ ...payload, ...claims })
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
      .sign(privateKey);
  const forged = {
    none: new UnsecuredJWT(payload).encode(),
    key: await sign({}),
    audience: await sign({ aud: "another" }),
    expired: await sign({ exp: 1 }),
  };
  for (const [what, token] of Object.entries(forged)) {
    expect([what, await send("GET", MEMBER, bearer(token))]).toMatchObject([
      what,
      { status: 401, code: "unauthorized" },
    ]);
  }
  expect((await send("GET", MEMBER, bearer(accessToken))).status).toBe(200);
});

test("a caller with a key may use the routes for keys, and none that are for people alone", async () => {
  const session = await api.signIn();
  const { secret } = await api.createKey(session);
  const { status, body } = await send("GET", MEMBER, { "x-api-key": secret });
  expect(status).toBe(200);
  expect(body).toEqual((await send("GET", MEMBER, bearer(session.accessToken))).body);
  for (const path of [PERSONAL, "/me"]) {
    expect(await send("GET", path, { "x-api-key": secret })).toMatchObject({
      status: 403,
      code: "forbidden",
    });
  }
});

test("a caller with a key that lacks the scope gets 403", async () => {
  const { secret } = await api.createKey(await api.signIn(), { scopes: ["balances:read"] });
  const refused = await send("GET", MEMBER, { "x-api-key": secret });
  expect(refused).toMatchObject({ status: 403, code: "insufficient_scope" });
});

test("a caller with a revoked key gets 401 from then on", async () => {
  const session = await api.signIn();
  const { id, secret } = await api.createKey(session);
  const revoked = await send("DELETE", `/auth/api-keys/${id}`, bearer(session.accessToken));
  expect(revoked).toMatchObject({
    status: 200,
    body: { id, revokedAt: expect.any(String) as string },
  });
  expect(await send("GET", MEMBER, { "x-api-key": secret })).toMatchObject({
    status: 401,
    code: "api_key_revoked",
  });
});

test("a caller sees nothing of another project: not its key, not by naming it", async () => {
  const [ada, eve] = [await api.signIn(), await api.signIn()];
  const { id } = await api.createKey(ada);
  const foreign = await send("DELETE", `/auth/api-keys/${id}`, bearer(eve.accessToken));
  const missing = await send(
    "DELETE",
    "/auth/api-keys/key_01980000-0000-7000-8000-000000000000",
    bearer(eve.accessToken),
  );
  expect(foreign.status).toBe(404);
  expect({ ...foreign.body, requestId: "" }).toEqual({ ...missing.body, requestId: "" });
  const { projects } = (await send("GET", "/me", bearer(ada.accessToken))).body as {
    projects: { id: string }[];
  };
  const named = { ...bearer(eve.accessToken), "x-project-id": projects[0]?.id ?? "" };
  expect(await send("GET", MEMBER, named)).toMatchObject({ status: 404, code: "not_found" });
});

test("a caller after signing out gets 401, with the refresh token too", async () => {
  const { accessToken, refreshToken } = await api.signIn();
  expect(await send("POST", "/auth/logout", bearer(accessToken))).toMatchObject({
    status: 200,
  });
  expect(await send("GET", MEMBER, bearer(accessToken))).toMatchObject({
    status: 401,
    code: "unauthorized",
  });
  expect(await send("POST", "/auth/refresh", {}, { refreshToken })).toMatchObject({
    status: 401,
    code: "unauthorized",
  });
});

const signed = async (changes: { domain?: string } = {}) => {
  const account = testAccount();
  const { body } = await send("POST", "/auth/nonce", {}, { address: account.address });
  const { nonce, domain, uri } = body as { nonce: string; domain: string; uri: string };
  const fields = {
    address: account.address,
    chainId: 31337,
    domain,
    uri,
    nonce,
    version: "1",
    ...changes,
  } as const;
  const message = createSiweMessage({ ...fields, issuedAt: new Date() });
  return { message, signature: await account.signMessage({ message }) };
};

test("sign-in over the API answers with tokens; the refresh token gives new ones once", async () => {
  const { status, body } = await send("POST", "/auth/token", {}, await signed());
  expect(status).toBe(200);
  expect(body).toMatchObject({ tokenType: "Bearer", expiresIn: 3600 });
  const { refreshToken } = body as { refreshToken: string };
  const second = await send("POST", "/auth/refresh", {}, { refreshToken });
  expect((await send("GET", "/me", bearer(String(second.body.accessToken)))).status).toBe(200);
  expect(await send("POST", "/auth/refresh", {}, { refreshToken })).toMatchObject({
    status: 401,
  });
});

test("sign-in over the API refuses a used nonce with 410, another domain and a wrong signature with 401, no signature with 400", async () => {
  const good = await signed();
  expect((await send("POST", "/auth/token", {}, good)).status).toBe(200);
  expect(await send("POST", "/auth/token", {}, good)).toMatchObject({
    status: 410,
    code: "nonce_expired",
  });
  const elsewhere = await signed({ domain: "evil.example" });
  expect(await send("POST", "/auth/token", {}, elsewhere)).toMatchObject({
    status: 401,
    code: "invalid_signature",
  });
  for (const body of [
    {},
    { message: "x" },
    { ...good, signature: "abc" },
    { ...good, message: "" },
  ]) {
    expect(await send("POST", "/auth/token", {}, body)).toMatchObject({
      status: 400,
      code: "invalid_request",
    });
  }
});

test("the JWKS route publishes public keys only", async () => {
  const { body } = await send("GET", "/auth/jwks");
  const { keys } = body as { keys: Record<string, unknown>[] };
  expect(keys).toEqual([
    expect.objectContaining({ kty: "EC", crv: "P-256", alg: "ES256", use: "sig" }),
  ]);
  expect(keys[0]).not.toHaveProperty("d");
});

test("an e-mail address is verified once its code is returned", async () => {
  const session = await api.signIn();
  const headers = bearer(session.accessToken);
  const email = testEmail();
  const refused = await send("PATCH", "/me", headers, { email });
  expect(refused).toMatchObject({
    status: 409,
    code: "approval_required",
    body: { proofs: ["totp", "passkey", "signature", "recovery_code"] },
  });
  const { approvalId, message } = refused.body as { approvalId: string; message: string };
  expect(message).toContain(`Address: "${email}"`);
  const signature = await session.account.signMessage({ message });
  const asked = await send("PATCH", "/me", headers, {
    email,
    approval: { approvalId, signature },
  });
  expect(asked).toMatchObject({ status: 200, body: { email, emailVerified: false } });
  const again = await send("PATCH", "/me", headers, { email });
  expect(again).toMatchObject({ status: 429, code: "rate_limited" });
  const code = await api.readCode(email);
  const wrong = code === "000000" ? "000001" : "000000";
  const verify = (guess: string) => send("POST", "/me/email/verify", headers, { code: guess });
  expect(await verify(wrong)).toMatchObject({ status: 422, code: "otp_invalid" });
  for (const malformed of ["12345", "1234567", "١٢٣٤٥٦", ""]) {
    expect(await verify(malformed)).toMatchObject({ status: 400, code: "invalid_request" });
  }
  expect(await verify(code)).toMatchObject({
    status: 200,
    body: { email, emailVerified: true },
  });
  expect(await verify(code)).toMatchObject({ status: 410, code: "otp_expired" });
});

test("an API key shows its secret when it is created, and again only to a replay of that request", async () => {
  const headers = { ...bearer((await api.signIn()).accessToken), "idempotency-key": "make-1" };
  const made = await send("POST", PERSONAL, headers, { name: "CI" });
  expect(made).toMatchObject({ status: 201, body: { name: "CI", revokedAt: null } });
  expect((await send("POST", PERSONAL, headers, { name: "CI" })).body.secret).toBe(
    made.body.secret,
  );
  const { body } = await send("GET", PERSONAL, headers);
  expect(body.data).toHaveLength(1);
  expect(JSON.stringify(body)).not.toContain(String(made.body.secret));
});

test("an API key shows the policy that it was created with, and needs a code unless that policy exempts it", async () => {
  const { accessToken, account } = await api.signIn();
  const headers = bearer(accessToken);
  const { address } = testAccount();
  const policy = { otp: "exempt", dailyCapUsd: "250.50", recipients: [address.toLowerCase()] };
  const asked = await send("POST", PERSONAL, headers, { name: "Shop", ...policy });
  const signature = await account.signMessage({ message: String(asked.body.message) });
  const approval = { approvalId: asked.body.approvalId, signature };
  const made = await send("POST", PERSONAL, headers, { name: "Shop", ...policy, approval });
  const shown = { otp: "exempt", dailyCapUsd: "250.5", recipients: [address] };
  expect(made).toMatchObject({ status: 201, body: shown });
  await send("POST", PERSONAL, headers, { name: "Plain" });
  const { body } = await send("GET", PERSONAL, headers);
  expect(body.data).toMatchObject([
    { otp: "required", dailyCapUsd: null, recipients: [] },
    shown,
  ]);
});

test.each([
  ["no name", {}],
  ["an empty name", { name: " " }],
  ["a name of 81 characters", { name: "a".repeat(81) }],
  ["an unknown scope", { name: "CI", scopes: ["everything"] }],
  ["no scope", { name: "CI", scopes: [] }],
  ["an expiry in the past", { name: "CI", expiresAt: "2020-01-01T00:00:00Z" }],
  ["an expiry that is no time", { name: "CI", expiresAt: "tomorrow" }],
  ["an exemption without a cap", { name: "CI", otp: "exempt" }],
  ["a cap without an exemption", { name: "CI", dailyCapUsd: "100" }],
  ["a cap that is no amount", { name: "CI", otp: "exempt", dailyCapUsd: "1e3" }],
  ["a cap of seven fraction digits", { name: "CI", otp: "exempt", dailyCapUsd: "1.0000001" }],
  ["a negative cap", { name: "CI", otp: "exempt", dailyCapUsd: "-1" }],
  ["a recipient that is no address", { name: "CI", recipients: ["shop.eth"] }],
  [
    "101 recipients",
    { name: "CI", recipients: Array.from({ length: 101 }, () => `0x${"1".repeat(40)}`) },
  ],
])("API keys over the API are not made with %s", async (_what, input) => {
  const headers = bearer((await api.signIn()).accessToken);
  expect(await send("POST", PERSONAL, headers, input)).toMatchObject({
    status: 400,
    code: "invalid_request",
  });
});

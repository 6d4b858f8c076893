import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { defineContract } from "@/lib/contracts/contract";
import { DomainError } from "@/lib/core/errors";
import { httpServices, KNOWN } from "@/lib/dev/testing/http-services";
import { createRoute } from "./pipeline";
import { created, ok } from "./reply";

const base = { path: "/things/{id}", summary: "", tag: "", status: 200 } as const;
const response = z.object({ value: z.string() });
const body = z.object({
  from: z.array(z.object({ amount: z.string().min(1) })).max(3),
  note: z.string().optional(),
});
const create = defineContract({
  ...base,
  method: "POST",
  auth: "member",
  scope: "swaps:write",
  body,
  response,
});
const read = defineContract({
  ...base,
  method: "GET",
  auth: "member",
  scope: "operations:read",
  response,
});
const personal = defineContract({ ...base, method: "GET", auth: "user", response });
const open = defineContract({
  ...base,
  method: "GET",
  auth: "public",
  query: z.object({ limit: z.coerce.number().int().max(100).default(20) }),
  params: z.object({ id: z.string().max(5) }),
  response,
});
const search = defineContract({ ...open, query: z.object({ q: z.string() }) });

const route = createRoute(() => httpServices());
const withKey = { "x-api-key": KNOWN.key };

const send = async (
  handler: ReturnType<typeof route>,
  init: RequestInit & { id?: string; query?: string } = {},
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> => {
  const request = new Request(`http://localhost/api/things/1${init.query ?? ""}`, {
    method: handler.contract.method,
    ...init,
  });
  const answer = await handler(request, { params: Promise.resolve({ id: init.id ?? "1" }) });
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as Record<string, unknown>,
  };
};

const post = (text: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  send(
    route({
      contract: create,
      handler: ({ body: parsed }) => created({ value: parsed.from[0]?.amount ?? "" }),
    }),
    {
      body: text,
      headers: { ...withKey, "content-type": "application/json", ...headers },
    },
  );

describe("a request that is in order", () => {
  test("reaches the handler parsed and comes back as JSON with the request's id", async () => {
    const answer = await post('{"from":[{"amount":"1"}]}');
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ value: "1" });
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("on a public route has no actor, whatever it sends along", async () => {
    const handler = vi.fn(
      ({ query, params }: { query: { limit: number }; params: { id: string } }) =>
        ok({ value: `${String(query.limit)} ${params.id}` }),
    );
    const answer = await send(route({ contract: open, handler }), {
      headers: { "x-api-key": "nonsense" },
    });
    expect(answer.body).toEqual({ value: "20 1" });
  });
});

describe("authentication", () => {
  const reading = route({ contract: read, handler: () => ok({ value: "read" }) });
  const personally = route({
    contract: personal,
    handler: ({ actor }) => ok({ value: actor.userId }),
  });

  test.each([
    ["nothing", {}, "unauthorized"],
    ["an unknown key", { "x-api-key": "cw_live_nonsense" }, "unauthorized"],
    ["a revoked key", { "x-api-key": KNOWN.revokedKey }, "api_key_revoked"],
    ["a malformed Authorization", { authorization: "Basic abc" }, "unauthorized"],
    ["an unknown token", { authorization: "Bearer nonsense" }, "unauthorized"],
    [
      "key and token at once",
      { "x-api-key": KNOWN.key, authorization: `Bearer ${KNOWN.token}` },
      "unauthorized",
    ],
  ])("%s is 401 with a challenge", async (_, headers, code) => {
    const answer = await send(reading, { headers });
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe(code);
    expect(answer.headers.get("www-authenticate")).toContain("Bearer");
  });

  test("a member route takes a key and a token", async () => {
    expect((await send(reading, { headers: withKey })).status).toBe(200);
    expect(
      (await send(reading, { headers: { authorization: `Bearer ${KNOWN.token}` } })).status,
    ).toBe(200);
  });

  test("a key on a person's route is 403", async () => {
    const answer = await send(personally, { headers: withKey });
    expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
  });

  test("a key without the scope is 403", async () => {
    const answer = await post('{"from":[]}', { "x-api-key": KNOWN.readOnlyKey });
    expect([answer.status, answer.body.code]).toEqual([403, "insufficient_scope"]);
  });

  test("a viewer may look and not change", async () => {
    const headers = { authorization: `Bearer ${KNOWN.viewerToken}` };
    expect((await send(reading, { headers })).status).toBe(200);
    const posting = route({ contract: create, handler: () => ok({ value: "" }) });
    const answer = await send(posting, {
      headers: { ...headers, "content-type": "application/json" },
      body: '{"from":[]}',
    });
    expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
  });

  test("a project of others is 404", async () => {
    const headers = { authorization: `Bearer ${KNOWN.token}`, "x-project-id": "prj_others" };
    expect((await send(personally, { headers })).status).toBe(404);
  });
});

test("every bad field is named with a dotted path", async () => {
  const answer = await post('{"from":[{"amount":""},{}],"note":7}');
  expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
  const details = answer.body.details as { path: string }[];
  expect(details.map(({ path }) => path)).toEqual(["from.0.amount", "from.1.amount", "note"]);
});

test("what is not JSON, or not UTF-8, is 400", async () => {
  expect((await post("{nope")).status).toBe(400);
  expect((await post("")).status).toBe(400);
  expect((await post(new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
  expect((await post("[1]")).status).toBe(400);
});

test.each([
  ["\\u0000", "from.0.amount"],
  ["1\\uD800", "from.0.amount"],
  ["\\udc00\\ud800", "from.0.amount"],
])("a text that no database keeps (%s) is 400, its field named", async (text, path) => {
  const answer = await post(`{"from":[{"amount":"${text}"}]}`);
  expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
  expect(answer.body.details).toMatchObject([{ path, code: "invalid_text" }]);
});

test("characters of any plane, and backslashes that look like one, are text", async () => {
  const amount = String.raw`\ud83d\ude00 \\u0000 \\ud800`;
  const answer = await post(`{"from":[{"amount":"${amount}"}]}`);
  expect(answer.body).toEqual({ value: String.raw`😀 \u0000 \ud800` });
});

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json; charset=latin1",
  "",
])("content type %j is 415", async (type) => {
  expect((await post('{"from":[]}', { "content-type": type })).status).toBe(415);
});

test("a public route takes 16 KiB, others 1 MiB, and what their contract says", async () => {
  const text = z.object({ note: z.string() });
  const echo = (contract: Parameters<typeof route>[0]["contract"]) =>
    route({ contract, handler: () => ok({ value: "" }) });
  const routes = [
    [echo(defineContract({ ...create, auth: "public", body: text })), 16 * 1024],
    [echo(defineContract({ ...create, body: text })), 1024 * 1024],
    [echo(defineContract({ ...create, body: text, bodyLimit: 100 })), 100],
    [
      echo(defineContract({ ...create, auth: "public", body: text, bodyLimit: 2_000_000 })),
      2_000_000,
    ],
  ] as const;
  const frame = '{"note":""}'.length;
  const headers = { ...withKey, "content-type": "application/json" };
  for (const [handler, bytesMax] of routes) {
    const sized = (bytes: number) =>
      send(handler, { headers, body: `{"note":"${"x".repeat(bytes - frame)}"}` });
    expect([bytesMax, (await sized(bytesMax)).status]).toEqual([bytesMax, 200]);
    expect([bytesMax, (await sized(bytesMax + 1)).status]).toEqual([bytesMax, 413]);
  }
});

test.each([
  ["public", 20],
  ["member", 32],
] as const)(
  "JSON for a %s route may nest %i deep; what is deeper is refused before it is parsed",
  async (auth, depth) => {
    const contract = defineContract({
      ...create,
      auth,
      body: z.object({ value: z.unknown() }),
    });
    const handler = route({ contract, handler: () => ok({ value: "" }) });
    const headers = { ...withKey, "content-type": "application/json" };
    const nested = (levels: number) =>
      `{"value":${"[".repeat(levels - 1)}1${"]".repeat(levels - 1)}}`;
    expect((await send(handler, { headers, body: nested(depth) })).status).toBe(200);
    const parse = vi.spyOn(JSON, "parse");
    const answer = await send(handler, { headers, body: nested(depth + 1) });
    expect(parse).not.toHaveBeenCalledWith(nested(depth + 1));
    parse.mockRestore();
    expect([answer.status, answer.body.details]).toMatchObject([400, [{ code: "too_deep" }]]);
  },
);

test("2 MB are 413, announced or not", async () => {
  const large = JSON.stringify({ from: [], note: "x".repeat(2_000_000) });
  expect((await post(large)).status).toBe(413);
  expect((await post(large, { "content-length": "10" })).status).toBe(413);
  expect((await post("{}", { "content-length": "2000000" })).status).toBe(413);
});

test("a bad query is 400, a bad parameter names nothing and is 404", async () => {
  const handler = route({ contract: open, handler: () => ok({ value: "" }) });
  expect((await send(handler, { query: "?limit=abc" })).status).toBe(400);
  const searching = route({ contract: search, handler: ({ query }) => ok({ value: query.q }) });
  const refused = await send(searching, { query: "?q=a%00" });
  expect([refused.status, refused.body.details]).toMatchObject([400, [{ path: "q" }]]);
  expect((await send(searching, { query: "?q=a%2500" })).body).toEqual({ value: "a%00" });
  expect((await send(handler, { id: "much-too-long" })).status).toBe(404);
});

test("who calls is settled before what is sent", async () => {
  expect(
    (await post("{nope", { "x-api-key": "cw_live_nonsense", "content-type": "text/plain" }))
      .status,
  ).toBe(401);
});

describe("a handler that fails", () => {
  test("answers its domain error, without a cause", async () => {
    const failing = route({
      contract: read,
      handler: () => {
        throw new DomainError("invalid_state", "Not now.", { cause: new Error("row 7") });
      },
    });
    const answer = await send(failing, { headers: withKey });
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({
      message: "Not now.",
      code: "invalid_state",
      requestId: answer.headers.get("x-request-id"),
      docsUrl: "http://localhost:3000/api/errors/invalid_state",
    });
  });

  test("answers 500 when its answer breaks the contract", async () => {
    const broken = route({
      contract: read,
      handler: () => ok({ value: 7 as unknown as string }),
    });
    const answer = await send(broken, { headers: withKey });
    expect([answer.status, answer.body.code]).toEqual([500, "internal_error"]);
  });
});

describe("limits", () => {
  test("attempts to sign in have a stricter one of their own, beside the address's", async () => {
    const { config, ...rest } = httpServices();
    const limits = { ...config, rateLimitPerIp: 10, rateLimitSignInPerIp: 1 };
    const own = {
      ...rest,
      config: limits,
      rateStore: { ...rest.rateStore },
      clock: { now: () => new Date(90_000) },
    };
    const signIn = defineContract({ ...open, params: z.unknown(), signInAttempt: true });
    const attempt = createRoute(() => own)({
      contract: signIn,
      handler: () => ok({ value: "" }),
    });
    const first = await send(attempt);
    expect(first.headers.get("ratelimit-policy")).toBe('"ip";q=10;w=60, "sign-in";q=1;w=60');
    expect((await send(attempt)).status).toBe(429);
    const other = createRoute(() => own)({
      contract: search,
      handler: () => ok({ value: "" }),
    });
    expect((await send(other, { query: "?q=a" })).status).toBe(200);
  });

  const limited = httpServices();
  const config = { ...limited.config, rateLimitPerKey: 2, rateLimitPerIp: 3 };
  const services = { ...limited, config, clock: { now: () => new Date(90_000) } };
  const handler = createRoute(() => services)({
    contract: read,
    handler: () => ok({ value: "" }),
  });

  test("beyond the caller's or the address's limit it is 429 with Retry-After, and the headers say what is left", async () => {
    const first = await send(handler, { headers: withKey });
    expect(first.headers.get("ratelimit-policy")).toBe('"ip";q=3;w=60, "caller";q=2;w=60');
    expect(first.headers.get("ratelimit")).toBe('"ip";r=2;t=30, "caller";r=1;t=30');
    await send(handler, { headers: withKey });
    const third = await send(handler, { headers: withKey });
    expect([third.status, third.body.code]).toEqual([429, "rate_limited"]);
    expect(third.headers.get("retry-after")).toBe("30");
    const fourth = await send(handler, { headers: { "x-api-key": "guess" } });
    expect(fourth.status).toBe(429);
  });
});

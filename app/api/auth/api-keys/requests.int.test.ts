import { createHash } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { revokeApiKey } from "@/lib/contracts/api-keys";
import { listApiKeyRequests } from "@/lib/contracts/api-requests";
import type { QueryInput, ResponseOf } from "@/lib/contracts/contract";
import {
  testApi,
  type TestApi,
  type TestApiKey,
  type TestSession,
} from "@/lib/dev/testing/api";

const PER_KEY = 150;
const ADDRESS = "203.0.113.9";

let api: TestApi;
let owner: TestSession;
let key: TestApiKey;
beforeAll(async () => {
  api = await testApi({
    devnet: false,
    variables: { RATE_LIMIT_PER_KEY: String(PER_KEY), TRUSTED_PROXY_HOPS: "1" },
  });
});
beforeEach(async () => {
  owner = await api.signIn();
  key = await api.createKey(owner);
});

type Logged = ResponseOf<typeof listApiKeyRequests>["data"];

const send = async (method: string, path: string, body?: string, secret = key.secret) => {
  const answer = await api.fetch(path, {
    method,
    headers: {
      "x-api-key": secret,
      "x-forwarded-for": ADDRESS,
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, requestId: answer.headers.get("x-request-id") ?? "" };
};

/**
 * Sends more requests at once than the limit allows; again where a new window of the limit began
 * between them.
 */
const untilRefused = async () => {
  for (;;) {
    const answers = await Promise.all(
      Array.from({ length: PER_KEY + 1 }, () => send("GET", "/wallets")),
    );
    const refused = answers.find(({ status }) => status === 429);
    if (refused !== undefined) return refused;
  }
};

const read = async (query: QueryInput<typeof listApiKeyRequests> = {}): Promise<Logged> =>
  (await owner.client.call(listApiKeyRequests, { params: { id: key.id }, query })).data;

/** The log, once it holds the request. */
const untilLogged = (requestId: string): Promise<Logged> =>
  vi.waitFor(async () => {
    const rows = await read({ limit: 100 });
    expect(rows.map(({ id }) => id)).toContain(requestId);
    return rows;
  }, 20_000);

describe("the log of a key's requests", () => {
  test("names the route, the answer, the caller and the digest of the very bytes that were sent", async () => {
    // Spaces and order of fields as no serializer writes them.
    const body = `{ "name" :"Ada",  "address":"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" , "x": 1 }`;
    const posted = await send("POST", "/contacts", body);
    const listed = await send("GET", "/wallets?limit=5");
    const [second, first] = await untilLogged(listed.requestId);
    expect(first).toMatchObject({
      ...{
        id: posted.requestId,
        keyId: key.id,
        method: "POST",
        path: "/contacts",
        status: posted.status,
      },
      ...{
        clientAddress: ADDRESS,
        bodySha256: createHash("sha256").update(body).digest("hex"),
      },
    });
    expect(first?.durationMs).toBeGreaterThan(0);
    expect(second).toMatchObject({
      method: "GET",
      path: "/wallets",
      status: 200,
      code: null,
      bodySha256: null,
    });
    const stored = await api.services.database.pool.query(
      "SELECT * FROM api_request WHERE key_id = $1",
      [key.id],
    );
    expect(JSON.stringify(stored.rows)).not.toContain("Ada");
    expect(JSON.stringify(stored.rows)).not.toContain(key.secret);
  });

  test("has what was refused: for its scope, its form, and by the limit", async () => {
    const narrow = await api.createKey(owner, { scopes: ["wallets:read", "operations:read"] });
    key = narrow;
    const forbidden = await send("POST", "/transfers", "{}");
    const personal = await send("GET", "/auth/api-keys");
    const missing = await send("GET", "/operations/op_nothing");
    const rows = await untilLogged(missing.requestId);
    const codeOf = (id: string) => rows.find((row) => row.id === id)?.code;
    expect([forbidden, personal, missing].map(({ requestId }) => codeOf(requestId))).toEqual([
      "insufficient_scope",
      "forbidden",
      "not_found",
    ]);
    expect(rows.find(({ id }) => id === personal.requestId)?.path).toBe("/auth/api-keys");
    const refused = await untilRefused();
    const limited = (await untilLogged(refused.requestId)).find(
      ({ id }) => id === refused.requestId,
    );
    expect(limited).toMatchObject({ status: 429, code: "rate_limited" });
  });

  test("has what was tried with a revoked key and from a wrong network, and nothing of guesses", async () => {
    const walled = await api.createKey(owner, { networks: ["198.51.100.0/24"] });
    await owner.client.call(revokeApiKey, { params: { id: key.id } });
    const revoked = await send("GET", "/wallets");
    await send(
      "GET",
      "/wallets",
      undefined,
      `${key.secret.slice(0, -1)}${key.secret.endsWith("A") ? "B" : "A"}`,
    );
    expect(await untilLogged(revoked.requestId)).toMatchObject([
      { status: 401, code: "api_key_revoked" },
    ]);
    key = walled;
    const outside = await send("GET", "/wallets");
    expect(await untilLogged(outside.requestId)).toMatchObject([
      { status: 403, code: "forbidden", clientAddress: ADDRESS },
    ]);
  });

  test("is read page by page and by filters", async () => {
    await send("GET", "/wallets");
    await send("POST", "/transfers", "{}");
    const last = await send("GET", "/balances/unified");
    const all = await untilLogged(last.requestId);
    expect(all).toHaveLength(3);
    const page = await owner.client.call(listApiKeyRequests, {
      params: { id: key.id },
      query: { limit: 2 },
    });
    const rest = await owner.client.call(listApiKeyRequests, {
      params: { id: key.id },
      query: { limit: 2, cursor: page.nextCursor ?? "" },
    });
    expect([...page.data, ...rest.data]).toEqual(all);
    expect(rest.nextCursor).toBeNull();
    const paths = async (query: QueryInput<typeof listApiKeyRequests>) =>
      (await read(query)).map(({ path }) => path);
    expect(await paths({ method: "POST" })).toEqual(["/transfers"]);
    expect(await paths({ outcome: "refused" })).toEqual(["/transfers"]);
    expect(await paths({ outcome: "failed" })).toEqual([]);
    expect(await paths({ path: "/wallets" })).toEqual(["/wallets"]);
    expect(await paths({ to: all[2]?.at ?? "" })).toEqual([]);
    await expect(read({ cursor: "req_made-up" })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
  });

  test("is for owners and admins of the key's project alone", async () => {
    const params = { id: key.id };
    const stranger = await api.signIn();
    await expect(stranger.client.call(listApiKeyRequests, { params })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(key.client.call(listApiKeyRequests, { params })).rejects.toMatchObject({
      code: "forbidden",
    });
    const { prisma } = api.services.database;
    const { userId } = await api.services.auth.verifyAccessToken(owner.accessToken);
    await prisma.membership.updateMany({ where: { userId }, data: { role: "operator" } });
    await vi.waitFor(
      () =>
        expect(owner.client.call(listApiKeyRequests, { params })).rejects.toMatchObject({
          code: "forbidden",
        }),
      20_000,
    );
  });
});

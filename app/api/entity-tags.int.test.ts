/** Entity tags and compression, over real HTTP. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request, type IncomingHttpHeaders } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { createGlobalAccount, listGlobalAccounts } from "@/lib/contracts/global-accounts";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { serveApi } from "@/lib/dev/testing/http";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let api: TestApi;
let owner: TestSession;
let baseUrl = "";
let accountId = "";

beforeAll(async () => {
  api = await testApi();
  baseUrl = await serveApi(api.services);
  owner = await api.signIn();
  accountId = (
    await owner.client.call(createGlobalAccount, { body: { currency: "USDC", name: "One" } })
  ).id;
});

/** Without what `fetch` adds and unpacks by itself. */
const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = { authorization: `Bearer ${owner.accessToken}`, ...headers };
    const outgoing = request(baseUrl + path, { headers: sent }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end();
  });

const READS = [
  ["the document", () => "/openapi.json", "public, max-age=300"],
  ["a public list", () => "/chains", "no-cache"],
  ["a list", () => "/global-accounts", "private, no-cache"],
  ["a record", () => `/global-accounts/${accountId}`, "private, no-cache"],
] as const;

test.each(READS)(
  "%s has a tag, and 304 without a body answers it",
  async (_, path, cacheControl) => {
    const first = await get(path());
    const etag = first.headers.etag ?? "";
    expect([first.status, first.headers["cache-control"]]).toEqual([200, cacheControl]);
    expect(etag).toMatch(/^W\/"[\w-]+"$/);
    for (const known of [etag, etag.slice(2), `"other", ${etag}`, "*"]) {
      const again = await get(path(), { "if-none-match": known });
      expect([known, again.status, again.body.length, again.headers.etag]).toEqual([
        known,
        304,
        0,
        etag,
      ]);
      expect(again.headers["cache-control"]).toBe(cacheControl);
      expect(again.headers["content-length"]).toBeUndefined();
    }
    const other = await get(path(), { "if-none-match": '"other"' });
    expect([other.status, other.headers.etag]).toEqual([200, etag]);
  },
);

test("a change gives the list and the record other tags", async () => {
  const tags = async (): Promise<(string | undefined)[]> => [
    (await get("/global-accounts")).headers.etag,
    (await get("/global-accounts?limit=1")).headers.etag,
  ];
  const before = await tags();
  await owner.client.call(createGlobalAccount, { body: { currency: "USDC", name: "Two" } });
  const after = await tags();
  expect(after[0]).not.toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  // Pages that are equal are equal to the byte, their cursors included.
  expect(await tags()).toEqual(after);
  expect(
    (await owner.client.call(listGlobalAccounts, { query: { limit: 1 } })).nextCursor,
  ).not.toBeNull();
});

test("refusals and answers to changes have no tag and stay out of caches", async () => {
  const refused = await get("/global-accounts?limit=0", { "if-none-match": "*" });
  expect([refused.status, refused.headers.etag, refused.headers["cache-control"]]).toEqual([
    400,
    undefined,
    "no-store",
  ]);
  const inbox = await get("/dev/inbox");
  expect(inbox.headers["cache-control"]).toBe("no-store");
});

test("the document is compressed as the caller takes it", async () => {
  const plain = await get("/openapi.json");
  expect([plain.headers["content-encoding"], plain.headers.vary]).toEqual([
    undefined,
    "accept-encoding",
  ]);
  for (const [accepted, coding, unpack] of [
    ["gzip", "gzip", gunzipSync],
    ["gzip, deflate, br", "br", brotliDecompressSync],
  ] as const) {
    const answer = await get("/openapi.json", { "accept-encoding": accepted });
    expect(answer.headers["content-encoding"]).toBe(coding);
    expect(answer.headers["content-length"]).toBe(String(answer.body.length));
    expect(answer.body.length).toBeLessThan(plain.body.length / 4);
    expect(unpack(answer.body).equals(plain.body)).toBe(true);
    const etag = answer.headers.etag ?? "";
    expect(
      (await get("/openapi.json", { "accept-encoding": accepted, "if-none-match": etag }))
        .status,
    ).toBe(304);
  }
  expect(
    (await get("/openapi.json", { "accept-encoding": "identity" })).body.equals(plain.body),
  ).toBe(true);
});

test("answers of one caller are not compressed", async () => {
  const answer = await get("/global-accounts", { "accept-encoding": "gzip, br" });
  expect(answer.headers["content-encoding"]).toBeUndefined();
});

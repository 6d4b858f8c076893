/** Every error says where it is explained, and the page is there. */
import { beforeAll, describe, expect, test } from "vitest";
import { ERROR_CODES, type ErrorCode } from "@/lib/core/errors";
import { ERROR_GUIDE } from "@/lib/http/error-guide";
import { ERROR_EXAMPLES } from "@/lib/http/openapi-errors";
import { docsUrl } from "@/lib/http/problem";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { serveApi } from "@/lib/dev/testing/http";

let api: TestApi;
let baseUrl = "";

beforeAll(async () => {
  api = await testApi();
  baseUrl = await serveApi(api.services);
});

/** The address as this server answers it. */
const here = (url: string): string =>
  url.replace(api.services.config.publicUrl, baseUrl.replace(/\/api$/, ""));

/** The beginning of the example's message, up to what JSON escapes. */
const firstWordsOf = (code: ErrorCode): string =>
  /^[^"\n]*/.exec((ERROR_EXAMPLES[code] as { readonly message: string }).message)?.[0] ?? "";

test.each(ERROR_CODES)(
  "the page of %s says when it comes and what to do, with an example",
  async (code) => {
    const answer = await fetch(here(docsUrl(api.services.config.publicUrl, code)));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const plain = (await answer.text())
      .replace(/&#39;/g, "'")
      .replace(/&quot;/g, '"')
      .replace(/&lt;/g, "<")
      .replace(/&gt;/g, ">")
      .replace(/&amp;/g, "&");
    const { when, action } = ERROR_GUIDE[code];
    for (const part of [code, when, action, firstWordsOf(code)]) expect(plain).toContain(part);
  },
);

test("there is no page of a code that does not exist", async () => {
  expect((await fetch(`${baseUrl}/errors/nonsense`)).status).toBe(404);
});

const JSON_TYPE = { "content-type": "application/json" };

describe("sentences for frequent mistakes, each with the address of its page", () => {
  test.each([
    [
      "a wrong path",
      "/transferz",
      {},
      [404, "not_found", /No operation has the path \/transferz\. Did you mean \/transfers\?/],
    ],
    [
      "a version in the path",
      "/v1/swap/quote",
      { method: "POST", body: "{}" },
      [404, "not_found", /Did you mean \/swap\/quote\?/],
    ],
    [
      "a wrong path with an id",
      "/operation/op_0198",
      {},
      [404, "not_found", /Did you mean \/operations\/\{id\}\?/],
    ],
    [
      "a path that is like none",
      "/completely/different/thing",
      {},
      [404, "not_found", /openapi\.json lists/],
    ],
    [
      "an object that is not there",
      "/operations/op_01980000-0000-7000-8000-000000000000",
      "key",
      [404, "not_found", /The path is right/],
    ],
    [
      "an API key as Bearer",
      "/chains-of-mine",
      { headers: { authorization: "Bearer cw_test_abc" } },
      [404, "not_found", /No operation/],
    ],
    [
      "an API key as Bearer",
      "/wallets",
      { headers: { authorization: "Bearer cw_test_abc" } },
      [401, "unauthorized", /This is an API key\. Send it in the header x-api-key/],
    ],
    ["a compressed body", "/swap/quote", "gzip", [415, "unsupported_media_type", /compressed/]],
    ["no credential", "/wallets", {}, [401, "unauthorized", /x-api-key/]],
    ["another method", "/chains", { method: "DELETE" }, [405, "method_not_allowed", /./]],
    ["a malformed target", "/wallets/%00", {}, [400, "invalid_request", /control character/]],
  ] as const)("%s: %s", async (_, path, init, [status, code, words]) => {
    const secret = (await api.createKey(await api.signIn())).secret;
    const asKey = { headers: { ...JSON_TYPE, "x-api-key": secret } };
    const gzipped = {
      method: "POST",
      headers: { ...asKey.headers, "content-encoding": "gzip" },
      body: "x",
    };
    const optionsOf = (): RequestInit => {
      if (init === "key") return asKey;
      return init === "gzip" ? gzipped : init;
    };
    const answer = await fetch(baseUrl + path, optionsOf());
    const body = (await answer.json()) as {
      readonly message: string;
      readonly code: string;
      readonly docsUrl: string;
    };
    expect([answer.status, body.code]).toEqual([status, code]);
    expect(body.message).toMatch(words);
    expect(body.docsUrl).toBe(`${api.services.config.publicUrl}/api/errors/${code}`);
  });

  test("a slash at the end is sent on, with a sentence for clients that do not follow", async () => {
    const answer = await fetch(`${baseUrl}/transfers/?limit=1`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([
      308,
      "/api/transfers?limit=1",
    ]);
    expect(await answer.json()).toMatchObject({
      message: expect.stringContaining("no slash at their end") as string,
    });
  });

  test("a name and the placeholder of a coin get their own sentence in a quote and in a payout", async () => {
    const { accessToken } = await api.signIn();
    const post = async (path: string, body: unknown): Promise<string> => {
      const headers = { ...JSON_TYPE, authorization: `Bearer ${accessToken}` };
      const answer = await fetch(baseUrl + path, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return answer.text();
    };
    const chainId = api.services.registry.list()[0]?.id ?? 1;
    const coin = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
    const row = { address: "vitalik.eth", amount: "1", token: coin };
    const payout = await post("/payouts/bulk/wallets", {
      chainId,
      transfers: [row],
      validateOnly: true,
    });
    expect(payout).toContain("names (ENS) are not resolved here");
    expect(payout).toContain('called \\"native\\" here');
    const from = [{ address: "ada.eth", chainId, token: coin, amount: "1" }];
    const quote = await post("/swap/quote", {
      from,
      toChainId: chainId,
      toToken: coin,
      toAddress: "ada.eth",
    });
    expect(quote).toContain("names (ENS) are not resolved here");
  });
});

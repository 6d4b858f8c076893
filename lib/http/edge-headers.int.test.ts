import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { exchange, get, passed, start, statusOf } from "@/lib/dev/testing/edge-server";

const headersOf = (text: string): string =>
  text.slice(0, text.indexOf("\r\n\r\n")).toLowerCase();
const policyOf = (text: string): string =>
  /content-security-policy: (.*)\r\n/i.exec(text)?.[1] ?? "";
const nonceOf = (text: string): string | undefined =>
  /'nonce-([^']+)'/.exec(policyOf(text))?.[1];

describe("the headers of an answer", () => {
  test("each page has a nonce of its own, which Next gets, and none may run scripts or styles inline", async () => {
    const { port } = await start();
    const pages = [await get(port, "/"), await get(port, "/", "x-causeway-nonce: chosen\r\n")];
    const nonces = pages.map(nonceOf);
    expect(new Set(nonces).size).toBe(2);
    expect(passed.map(({ headers }) => headers["x-causeway-nonce"])).toEqual(nonces);
    for (const page of pages) {
      expect(policyOf(page)).not.toMatch(/unsafe-(inline|eval)/);
      expect(policyOf(page)).toContain("'strict-dynamic'");
      expect(policyOf(page)).toContain("frame-ancestors 'none'");
      expect(headersOf(page)).toContain("x-frame-options: deny");
    }
  });

  test("a file has a policy without a nonce, because caches give it to everybody", async () => {
    const { port } = await start();
    const file = await get(port, "/_next/static/x.js");
    expect(nonceOf(file)).toBeUndefined();
    expect(policyOf(file)).toContain("script-src 'self';");
    expect(passed[0]?.headers).not.toHaveProperty("x-causeway-nonce");
  });

  test.each([
    "/",
    "/_next/static/x.js",
    "/api/health",
    "/api/nothing",
    "/x/../api",
    "/api/health/",
  ])(
    "%s says to come back by https alone, where the service's own address is https",
    async (target) => {
      const secure = await start({ publicUrl: "https://pay.example" });
      expect(headersOf(await get(secure.port, target))).toContain(
        "strict-transport-security: max-age=31536000",
      );
      const plain = await start();
      expect(headersOf(await get(plain.port, target))).not.toContain(
        "strict-transport-security",
      );
    },
  );

  test("an error's own page allows its one style by its hash", async () => {
    const { port } = await start({ perIp: 1 });
    await get(port, "/");
    const page = await get(port, "/", "accept: text/html\r\n");
    const style = /<style>([^]*)<\/style>/.exec(page)?.[1] ?? "";
    expect(policyOf(page)).toContain(
      `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}';`,
    );
  });
});

describe("a change by the browser's cookie", () => {
  const change = async (headers: string): Promise<[status: number, passed: number]> => {
    const { port } = await start();
    const before = passed.length;
    const head =
      "POST /api/auth/signout HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n";
    const answer = await exchange(port, `${head}${headers}\r\n`);
    return [statusOf(answer), passed.length - before];
  };

  test.each([
    ["this service's origin", "cookie: a=b\r\norigin: http://localhost:3000\r\n"],
    ["this service's page", "cookie: a=b\r\nsec-fetch-site: same-origin\r\n"],
    ["a program without a cookie", ""],
  ])("is taken from %s", async (_, headers) => {
    expect(await change(headers)).toEqual([200, 1]);
  });

  test.each([
    ["another site", "cookie: a=b\r\norigin: https://evil.example\r\n"],
    ["another site, before there is a cookie", "origin: https://evil.example\r\n"],
    [
      "another port of the host",
      "cookie: a=b\r\norigin: http://localhost:3001\r\nsec-fetch-site: same-site\r\n",
    ],
    ["a page without an origin", "cookie: a=b\r\norigin: null\r\n"],
    ["nobody who says where they are", "cookie: a=b\r\n"],
    ["another site's form", "cookie: a=b\r\nsec-fetch-site: cross-site\r\n"],
  ])("is refused from %s, and does not reach the pages", async (_, headers) => {
    expect(await change(headers)).toEqual([403, 0]);
  });

  test("is needed for no reading", async () => {
    const { port } = await start();
    expect(
      statusOf(await get(port, "/", "cookie: a=b\r\nsec-fetch-site: cross-site\r\n")),
    ).toBe(200);
  });
});

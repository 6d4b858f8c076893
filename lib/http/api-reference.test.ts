import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { referenceFile, referenceFrame } from "./api-reference";
import { CODED_HEADER } from "./compress";

test("the script of the API reference is compressed before anybody asks for it", async () => {
  const html = await (await referenceFrame("bm9uY2U=")).text();
  const name = /data-renderer="\/api-reference\/([^"]+)"/.exec(html)?.[1] ?? "";
  const answer = await referenceFile(name);
  // A file that is stored compressed is sent unchanged, so that no request compresses 3 MB.
  expect(answer?.headers.get(CODED_HEADER)).toBe("gzip");
  expect(answer?.headers.get("cache-control")).toContain("immutable");
  const sent = gunzipSync(Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0)));
  expect(
    sent.equals(
      await readFile("node_modules/@scalar/api-reference/dist/browser/standalone.js"),
    ),
  ).toBe(true);
  expect(await referenceFile("scalar-0000000000000000.js")).toBeNull();
});

const NONCE = "bm9uY2U=";

/** The sources of each directive of the frame's policy. */
const directivesOf = async (nonce: string): Promise<Map<string, string[]>> => {
  const policy = (await referenceFrame(nonce)).headers.get("content-security-policy") ?? "";
  return new Map(
    policy.split(";").map((directive) => {
      const [name = "", ...sources] = directive.trim().split(/ +/);
      return [name, sources] as const;
    }),
  );
};

test("the policy of the frame takes scripts and style elements by the nonce alone; style attributes are the one exception", async () => {
  const directives = await directivesOf(NONCE);
  expect(directives.get("default-src")).toEqual(["'none'"]);
  expect(directives.get("script-src")).toEqual([`'nonce-${NONCE}'`, "'strict-dynamic'"]);
  expect(directives.get("style-src")).toEqual([`'nonce-${NONCE}'`]);
  // A more specific directive for elements or attributes would override the general one.
  const about = [...directives.keys()].filter((name) => /^(script|style)-/.test(name));
  expect(about).toEqual(["script-src", "style-src", "style-src-attr"]);
  const unsafe = [...directives].filter(([, sources]) =>
    sources.some((source) => source.includes("unsafe")),
  );
  expect(unsafe).toEqual([["style-src-attr", ["'unsafe-inline'"]]]);
});

test("a nonce that would add sources to the policy is refused", async () => {
  await expect(referenceFrame("x' 'unsafe-inline")).rejects.toThrow("not base64");
});

import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { referenceFile, referenceFrame } from "./api-reference";
import { CODED_HEADER } from "./content-coding";

test("the script of the API reference is compressed before anybody asks for it", async () => {
  const html = await (await referenceFrame("bm9uY2U=")).text();
  const name = /data-renderer="\/api-reference\/([^"]+)"/.exec(html)?.[1] ?? "";
  const answer = await referenceFile(name);
  // A file that is stored with a coding is sent on as it is, so that no request compresses 3 MB.
  expect(answer?.headers.get(CODED_HEADER)).toBe("gzip");
  expect(answer?.headers.get("cache-control")).toContain("immutable");
  const sent = gunzipSync(Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0)));
  expect(sent.equals(await readFile("node_modules/@scalar/api-reference/dist/browser/standalone.js"))).toBe(true);
  expect(await referenceFile("scalar-0000000000000000.js")).toBeNull();
});

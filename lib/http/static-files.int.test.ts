import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { compressStatic } from "../../scripts/compress-static.mjs";
import { createStaticFiles } from "./static-files";

const SCRIPT = "console.log('a script of the build');".repeat(100);

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const start = async () => {
  const outside = mkdtempSync(join(tmpdir(), "cw-static-"));
  const folder = join(outside, "static");
  mkdirSync(join(folder, "chunks"), { recursive: true });
  writeFileSync(join(folder, "chunks", "a.js"), SCRIPT);
  writeFileSync(join(folder, "chunks", "font.woff2"), "already compressed");
  writeFileSync(
    join(folder, "chunks", "a.js.map"),
    '{"version":3,"sources":[],"names":[],"mappings":""}',
  );
  await compressStatic(folder);
  writeFileSync(join(outside, "outside.js"), "secret");
  const files = createStaticFiles(folder);
  const server = createServer((incoming, outgoing) => {
    if (!files.serve(incoming.url ?? "/", incoming, outgoing))
      outgoing.writeHead(404).end("not a file");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(() => {
    server.close();
    rmSync(outside, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  // The client of Node's http module returns the bytes without decompressing them.
  return (path: string, accepted: string | null, method = "GET") =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
      (resolve, reject) => {
        const headers = accepted === null ? {} : { "accept-encoding": accepted };
        request({ port, path, method, headers }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.once("end", () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              body: Buffer.concat(chunks),
            }),
          );
        })
          .once("error", reject)
          .end();
      },
    );
};

test("a script is sent as brotli, gzip or plain, as the browser takes it, and may be kept for ever", async () => {
  const get = await start();
  const path = "/_next/static/chunks/a.js";
  const brotli = await get(path, "gzip, deflate, br");
  expect(brotli.headers).toMatchObject({
    "content-encoding": "br",
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": "application/javascript; charset=utf-8",
    vary: "accept-encoding",
    "content-length": String(brotli.body.byteLength),
  });
  expect(brotliDecompressSync(brotli.body).toString()).toBe(SCRIPT);
  const gzip = await get(path, "gzip");
  expect(gzip.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(gzip.body).toString()).toBe(SCRIPT);
  const plain = await get(path, null);
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(plain.body.toString()).toBe(SCRIPT);
  const head = await get(path, "br", "HEAD");
  expect([head.status, head.headers["content-length"], head.body.byteLength]).toEqual([
    200,
    String(brotli.body.byteLength),
    0,
  ]);
});

test("a file that was not compressed is sent as it is", async () => {
  const font = await (await start())("/_next/static/chunks/font.woff2", "br, gzip");
  expect([font.status, font.headers["content-encoding"], font.headers["content-type"]]).toEqual(
    [200, undefined, "font/woff2"],
  );
});

test("a source map of the build is removed, also from the disk that the process of the pages sends files from", async () => {
  const get = await start();
  expect((await get("/_next/static/chunks/a.js", null)).status).toBe(200);
  expect((await get("/_next/static/chunks/a.js.map", null)).status).toBe(404);
  const folder = mkdtempSync(join(tmpdir(), "cw-maps-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  for (const name of ["a.js", "a.js.map"]) writeFileSync(join(folder, name), "{}");
  await compressStatic(folder);
  expect(readdirSync(folder).sort()).toEqual(["a.js", "a.js.br", "a.js.gz"]);
});

test("only files of the build are sent", async () => {
  const get = await start();
  for (const path of [
    "/_next/static/../outside.js",
    "/_next/static/chunks/../../outside.js",
    "/_next/static/chunks/a.js.br",
    "/_next/static/chunks",
    "/_next/static/",
    "/chunks/a.js",
  ])
    expect((await get(path, null)).status, path).toBe(404);
  expect((await get("/_next/static/chunks/a.js", null, "POST")).status).toBe(404);
});

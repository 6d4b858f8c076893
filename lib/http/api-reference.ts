import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { CODED_HEADER } from "./compress";

/** The built renderer as its package ships it: one script with its styles inside. */
const RENDERER = join(
  "node_modules",
  "@scalar",
  "api-reference",
  "dist",
  "browser",
  "standalone.js",
);
const HASH_CHARS = 16;
const GZIP_LEVEL = 9;

interface RendererFile {
  /** The name depends on the content, so browsers may cache the file for ever. */
  readonly name: string;
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

const load = async (): Promise<RendererFile> => {
  const content = await readFile(join(process.cwd(), RENDERER));
  const hash = createHash("sha256").update(content).digest("hex").slice(0, HASH_CHARS);
  const gzipped = new Uint8Array(await promisify(gzip)(content, { level: GZIP_LEVEL }));
  return { name: `scalar-${hash}.js`, gzipped };
};

let loaded: Promise<RendererFile> | undefined;

const renderer = (): Promise<RendererFile> => {
  loaded ??= load().catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  return loaded;
};

/**
 * Answers a request for the renderer's script. The file has 3.4 MB and is public, so each process
 * compresses it only once. It is always sent as gzip, which every browser accepts, because
 * server.ts does not pass `accept-encoding` on to the pages.
 * @returns null when no file has this name
 */
export const referenceFile = async (name: string): Promise<Response | null> => {
  const file = await renderer();
  if (name !== file.name) return null;
  return new Response(file.gzipped, {
    headers: {
      [CODED_HEADER]: "gzip",
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
    },
  });
};

/**
 * The content policy of the frame that shows the reference. Scripts and style elements need the
 * nonce, as on every page. Style attributes are allowed, because the renderer writes them into its
 * markup. The frame may send requests only to this service, and only the service's own pages may
 * embed it.
 */
const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "object-src 'none'",
  ].join("; ");

const BASE64 = /^[\w+/=-]+$/;

/**
 * The document of the frame. It contains no token: its script fetches the session with the
 * browser's cookie.
 */
export const referenceFrame = async (nonce: string): Promise<Response> => {
  if (!BASE64.test(nonce)) throw new Error("The nonce is not base64.");
  const { name } = await renderer();
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="/icon.svg">
</head>
<body>
<div id="reference"></div>
<script nonce="${nonce}" src="/api-reference/frame.js" data-renderer="/api-reference/${name}"></script>
</body>
</html>
`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policyOf(nonce),
      "x-frame-options": "SAMEORIGIN",
    },
  });
};

import { createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Coding, codingFor } from "./compress";

const PREFIX = "/_next/static/";
/**
 * Value of `Cache-Control`. Caches may keep files for ever, because a change of content changes the
 * name.
 */
const FOREVER = "public, max-age=31536000, immutable";
const TYPES: Readonly<Record<string, string>> = {
  ".js": "application/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
};
/**
 * The extension of a compressed file; `scripts/compress-static.mjs` writes these files at build
 * time.
 */
const ENDS = { br: ".br", gzip: ".gz" } as const satisfies Record<Coding, string>;

interface StaticFile {
  readonly file: string;
  readonly bytes: number;
  readonly type: string;
  readonly coded: Readonly<Partial<Record<Coding, number>>>;
}

export interface StaticFiles {
  /**
   * Answers from the files of the build. Returns false and sends nothing when there is no such
   * file.
   */
  serve(path: string, incoming: IncomingMessage, outgoing: ServerResponse): boolean;
}

const isCoded = (file: string): boolean =>
  Object.values(ENDS).some((end) => file.endsWith(end));

const describe = (file: string): StaticFile => {
  const coded: Partial<Record<Coding, number>> = {};
  for (const coding of ["br", "gzip"] as const)
    if (existsSync(file + ENDS[coding])) coded[coding] = statSync(file + ENDS[coding]).size;
  return {
    file,
    bytes: statSync(file).size,
    type: TYPES[extname(file)] ?? "application/octet-stream",
    coded,
  };
};

/**
 * The files of the build by their URL path. Only these paths are answered, so that no path leads
 * out of the folder.
 */
const indexOf = (folder: string): ReadonlyMap<string, StaticFile> => {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !isCoded(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    files.map((file) => [PREFIX + relative(folder, file).split(sep).join("/"), describe(file)]),
  );
};

/**
 * Scripts, styles and fonts of the build, compressed at build time. They bypass the process of the
 * pages, so they load while it renders.
 * @param folder `.next/static`; its content does not change while the server runs
 */
export const createStaticFiles = (folder: string): StaticFiles => {
  const index = indexOf(folder);
  return {
    serve: (path, incoming, outgoing) => {
      const found = index.get(path);
      if (found === undefined || (incoming.method !== "GET" && incoming.method !== "HEAD"))
        return false;
      const coding = codingFor(
        incoming.headers["accept-encoding"],
        Object.keys(found.coded) as Coding[],
      );
      outgoing.writeHead(200, {
        "content-type": found.type,
        "content-length": coding === null ? found.bytes : (found.coded[coding] ?? found.bytes),
        "cache-control": FOREVER,
        vary: "accept-encoding",
        ...(coding === null ? {} : { "content-encoding": coding }),
      });
      if (incoming.method === "HEAD") {
        outgoing.end();
        return true;
      }
      const stream = createReadStream(coding === null ? found.file : found.file + ENDS[coding]);
      stream.once("error", () => outgoing.destroy());
      outgoing.once("close", () => stream.destroy());
      stream.pipe(outgoing);
      return true;
    },
  };
};

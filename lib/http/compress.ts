import type { Transform } from "node:stream";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import { promisify } from "node:util";
import { LRUCache } from "lru-cache";
import type { Answer } from "./reply";
import type { IncomingMessage, ServerResponse } from "node:http";

export type Coding = "br" | "gzip";

/**
 * Header with which a route of the pages names the compression of its body. Next removes
 * `content-encoding` from the answers of its routes, and `pages-life.ts` restores it.
 */
export const CODED_HEADER = "x-content-coded";

/**
 * The codings in order of preference. Brotli makes scripts and pages about a fifth smaller than
 * gzip does.
 */
const CODINGS: readonly Coding[] = ["br", "gzip"];
/** Quality of brotli for streams. Higher qualities take more time than they save in transfer. */
const STORED_BROTLI_QUALITY = 4;
const COMPRESSIBLE = /^(text\/|application\/(json|javascript|manifest\+json)|image\/svg\+xml)/;

/** The codings that the caller accepts (RFC 9110, 12.5.3), without codings of weight 0. */
const takenBy = (acceptEncoding: string): ReadonlySet<string> =>
  new Set(
    acceptEncoding.split(",").flatMap((entry) => {
      const [name = "", ...parameters] = entry
        .split(";")
        .map((part) => part.trim().toLowerCase());
      return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
    }),
  );

/**
 * The best coding of `offered` that the caller accepts; null when the answer is sent uncompressed.
 */
export const codingFor = (
  acceptEncoding: string | undefined,
  offered: readonly Coding[] = CODINGS,
): Coding | null => {
  if (acceptEncoding === undefined) return null;
  const taken = takenBy(acceptEncoding);
  return CODINGS.find((coding) => offered.includes(coding) && taken.has(coding)) ?? null;
};

export const isCompressible = (contentType: string | undefined): boolean =>
  contentType !== undefined && COMPRESSIBLE.test(contentType);

/** Compresses a stream. Each chunk is sent immediately, so that a page appears in parts. */
export const encoderOf = (coding: Coding): Transform =>
  coding === "br"
    ? createBrotliCompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { [constants.BROTLI_PARAM_QUALITY]: STORED_BROTLI_QUALITY },
      })
    : createGzip({ flush: constants.Z_SYNC_FLUSH });

// Compresses answers that are the same for everybody. Answers for one caller stay uncompressed.
// They may contain a secret next to text of others, and the compressed length could reveal the
// secret.

type SentAnswer = Omit<Answer, "body"> & { readonly body: string | Uint8Array };

/**
 * Minimum size of a body that is compressed. Shorter bodies fit into one packet even without
 * compression.
 */
const BYTES_MIN = 1_024;
const CACHED_MAX = 16;
const BROTLI_QUALITY = 5;

const codedBy: Readonly<Record<Coding, (body: string) => Promise<Uint8Array>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
    }),
  gzip: (body) => promisify(gzip)(body),
};

const coded = new LRUCache<string, Promise<Uint8Array>>({ max: CACHED_MAX });

const bytesOf = (etag: string, coding: Coding, body: string): Promise<Uint8Array> => {
  const key = `${coding} ${etag}`;
  const known = coded.get(key);
  if (known !== undefined) return known;
  const made = codedBy[coding](body);
  coded.set(key, made);
  made.catch(() => coded.delete(key));
  return made;
};

const isPublic = ({ headers }: Answer): boolean =>
  headers["cache-control"]?.startsWith("public") === true;

/**
 * Compresses the answer with the best coding that the caller accepts. Each public body is
 * compressed once.
 */
export const compressed = async (
  answer: Answer,
  acceptEncoding: string | undefined,
): Promise<SentAnswer> => {
  const { etag } = answer.headers;
  if (etag === undefined || !isPublic(answer) || answer.body.length < BYTES_MIN) return answer;
  if (!isCompressible(answer.headers["content-type"])) return answer;
  const headers = { ...answer.headers, vary: "accept-encoding" };
  const coding = codingFor(acceptEncoding);
  if (coding === null) return { ...answer, headers };
  const body = await bytesOf(etag, coding, answer.body);
  return { ...answer, headers: { ...headers, "content-encoding": coding }, body };
};

const DRAIN_MS = 2_000;

// Ends a refused upload, which Node would continue to read. The caller gets a short time to read
// the answer, then the connection is closed.
const drain = (incoming: IncomingMessage): void => {
  if (incoming.complete || incoming.destroyed) return;
  const timer = setTimeout(() => incoming.destroy(), DRAIN_MS);
  incoming.once("close", () => clearTimeout(timer));
  incoming.resume();
};

/**
 * Sends a complete answer. If another answer has begun, its connection is closed, so that this one
 * does not look like a part of it.
 */
export const sendAnswer = (
  answer: SentAnswer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void => {
  if (outgoing.destroyed) return;
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  const headers: Record<string, string | number> = answer.headers;
  if (answer.status !== 204 && answer.status !== 304)
    headers["content-length"] = Buffer.byteLength(answer.body);
  if (!incoming.complete && incoming.method !== "GET" && incoming.method !== "HEAD") {
    headers.connection = "close";
    outgoing.once("finish", () => drain(incoming));
  }
  outgoing.writeHead(answer.status, headers);
  outgoing.end(incoming.method === "HEAD" ? undefined : answer.body);
};

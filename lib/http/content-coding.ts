import type { Transform } from "node:stream";
import { constants, createBrotliCompress, createGzip } from "node:zlib";

export type Coding = "br" | "gzip";

/**
 * By this header a route of the pages says that its body has a coding already. Next takes `content-encoding` out of the answers of its routes;
 * server.ts puts it back.
 */
export const CODED_HEADER = "x-content-coded";

/** Preferred first: brotli makes scripts and pages about a fifth smaller than gzip does. */
const CODINGS: readonly Coding[] = ["br", "gzip"];
/** Higher qualities cost more time than they save on the line. */
const BROTLI_QUALITY = 4;
const COMPRESSIBLE = /^(text\/|application\/(json|javascript|manifest\+json)|image\/svg\+xml)/;

/** The codings that the caller takes (RFC 9110, 12.5.3), without those of weight 0. */
const takenBy = (acceptEncoding: string): ReadonlySet<string> =>
  new Set(
    acceptEncoding.split(",").flatMap((entry) => {
      const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
    }),
  );

/** The best of `offered` that the caller takes; null: the answer is sent as it is. */
export const codingFor = (acceptEncoding: string | undefined, offered: readonly Coding[] = CODINGS): Coding | null => {
  if (acceptEncoding === undefined) return null;
  const taken = takenBy(acceptEncoding);
  return CODINGS.find((coding) => offered.includes(coding) && taken.has(coding)) ?? null;
};

export const isCompressible = (contentType: string | undefined): boolean =>
  contentType !== undefined && COMPRESSIBLE.test(contentType);

/** Compresses a stream; each chunk is sent on at once, so that a page appears part by part. */
export const encoderOf = (coding: Coding): Transform =>
  coding === "br"
    ? createBrotliCompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
      })
    : createGzip({ flush: constants.Z_SYNC_FLUSH });

import { DomainError } from "@/lib/core/errors";

/**
 * A request as the pipeline reads it. There are two implementations: `inputFromRequest` (Next) and `NodeInput` (the fast
 * server), so that the hot path builds no unused Web Request.
 */
export interface HttpInput {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly search: string;
  /** Address of the peer, proxies not yet considered; empty when unknown. */
  readonly peerAddress: string;
  /** @param name in lower case */
  header(name: string): string | null;
  /** @throws DomainError `payload_too_large`; the rest of the body is not read */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Made on first use; aborts when the caller goes away. */
  signal(): AbortSignal;
  /** Made on first use; its body may have been read already. */
  request(): Request;
}

export const payloadTooLarge = (maxBytes: number): DomainError =>
  new DomainError("payload_too_large", `The body may have at most ${String(maxBytes)} bytes.`);

/**
 * The whole body. A body whose Content-Length is above `maxBytes` is refused before any byte is read.
 * @throws DomainError `payload_too_large`
 */
export const readWithin = async (input: HttpInput, maxBytes: number): Promise<Uint8Array> => {
  if (Number(input.header("content-length") ?? 0) > maxBytes) throw payloadTooLarge(maxBytes);
  return input.readBody(maxBytes);
};

const readStream = async (stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> => {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      throw payloadTooLarge(maxBytes);
    }
    chunks.push(value);
  }
};

/**
 * From a Web Request, as plain Next gives it. Next keeps the peer's address in the last entry of `x-forwarded-for`, and a
 * caller can set that header, so limits by address are reliable only behind the project's own server.
 */
export const inputFromRequest = (request: Request): HttpInput => {
  const url = new URL(request.url);
  return {
    method: request.method,
    path: url.pathname,
    search: url.search,
    peerAddress: request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "",
    header: (name) => request.headers.get(name),
    readBody: (maxBytes) =>
      request.body === null ? Promise.resolve(new Uint8Array()) : readStream(request.body, maxBytes),
    signal: () => request.signal,
    request: () => request,
  };
};

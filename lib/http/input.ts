import { DomainError } from "@/lib/core/errors";
import { isIPv6 } from "node:net";
import type { IncomingHttpHeaders } from "node:http";
import type { RequestContext } from "@/lib/core/actor";

/**
 * A request as the pipeline reads it. There are two implementations: `inputFromRequest` (Next) and
 * `NodeInput` (the fast server), so that the hot path builds no unused Web Request.
 */
export interface HttpInput {
  readonly method: string;
  /** Path of the URL, without the query. */
  readonly path: string;
  /** The query with its question mark, or empty. */
  readonly search: string;
  /** Address of the connected peer, which may be a proxy; empty when unknown. */
  readonly peerAddress: string;
  /** @param name in lower case */
  header(name: string): string | null;
  /** Reads the body. @throws DomainError `payload_too_large` without reading further bytes */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** The request's signal, created on first use. It aborts when the caller disconnects. */
  signal(): AbortSignal;
  /** The Web Request, created on first use. Its body may have been read already. */
  request(): Request;
}

export const payloadTooLarge = (maxBytes: number): DomainError =>
  new DomainError("payload_too_large", `The body may have at most ${String(maxBytes)} bytes.`);

/**
 * The whole body. A body whose Content-Length is above `maxBytes` is refused before any byte is
 * read.
 * @throws DomainError `payload_too_large`
 */
export const readWithin = async (input: HttpInput, maxBytes: number): Promise<Uint8Array> => {
  if (Number(input.header("content-length") ?? 0) > maxBytes) throw payloadTooLarge(maxBytes);
  return input.readBody(maxBytes);
};

const readStream = async (
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> => {
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
 * Input from a Web Request, as plain Next passes it. Next appends the peer's address to
 * `x-forwarded-for`, and a caller can set that header, so limits by address are reliable only
 * behind the project's own server.
 */
export const inputFromRequest = (request: Request): HttpInput => {
  const url = new URL(request.url);
  return {
    method: request.method,
    path: url.pathname,
    search: url.search,
    peerAddress: request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "",
    // A Web Request that this process created has no `Host` header, so the host of its URL is used.
    header: (name) => request.headers.get(name) ?? (name === "host" ? url.host : null),
    readBody: (maxBytes) =>
      request.body === null
        ? Promise.resolve(new Uint8Array())
        : readStream(request.body, maxBytes),
    signal: () => request.signal,
    request: () => request,
  };
};

const IPV4_MAPPED = "::ffff:";

/**
 * The caller's address: the peer, or behind `hops` trusted proxies the entry that the outermost of
 * them wrote. Entries further left were sent by the caller and prove nothing.
 */
export const clientAddress = (input: HttpInput, hops: number): string => {
  if (hops === 0) return input.peerAddress;
  const forwarded = input.header("x-forwarded-for");
  if (forwarded === null) return input.peerAddress;
  const entries = forwarded.split(",").map((entry) => entry.trim());
  return entries[Math.max(0, entries.length - hops)] ?? input.peerAddress;
};

/**
 * The address range to which one limit applies: an IPv4 address, or the /64 network of an IPv6
 * address.
 */
export const addressBucket = (address: string): string => {
  if (!address.includes(":")) return address === "" ? "unknown" : address;
  if (address.startsWith(IPV4_MAPPED)) return address.slice(IPV4_MAPPED.length);
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const groups = head === "" ? [] : head.split(":");
  const missing =
    tail === undefined ? 0 : 8 - groups.length - (tail === "" ? 0 : tail.split(":").length);
  const full = [
    ...groups,
    ...Array<string>(Math.max(0, missing)).fill("0"),
    ...(tail ? tail.split(":") : []),
  ];
  return `${full.slice(0, 4).join(":")}::/64`;
};

/**
 * Headers of one connection only (RFC 9110, 7.6.1), and headers that this server replaces. The body
 * is passed on as a whole with its length. Answers are compressed here, so the pages send them
 * uncompressed.
 */
const NOT_PASSED_ON = new Set([
  ..."connection keep-alive proxy-connection proxy-authorization te trailer transfer-encoding upgrade expect".split(
    " ",
  ),
  ..."host content-length accept-encoding forwarded x-real-ip x-causeway-path x-causeway-nonce".split(
    " ",
  ),
  ..."content-security-policy content-security-policy-report-only".split(" "),
]);
const FORWARDED_PREFIX = "x-forwarded-";

interface Passed {
  /** Address of the caller, after evaluating trusted proxies. */
  readonly client: string;
  /** Origin of the app as browsers see it. */
  readonly publicUrl: string;
  readonly path: string;
  readonly bodyBytes: number;
  /**
   * The nonce of a page's inline scripts and styles, and the policy that names it; null for a file.
   */
  readonly page: { readonly nonce: string; readonly policy: string } | null;
}

/**
 * Headers for the process of the pages, which trusts them about the caller. This function sets all
 * trusted headers and drops the caller's own headers of the same names.
 */
export const passedHeaders = (
  incoming: IncomingHttpHeaders,
  passed: Passed,
): Record<string, string | string[]> => {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(incoming))
    if (value !== undefined && !NOT_PASSED_ON.has(name) && !name.startsWith(FORWARDED_PREFIX))
      headers[name] = value;
  const { host, protocol } = new URL(passed.publicUrl);
  headers.host = host;
  headers["x-forwarded-host"] = host;
  headers["x-forwarded-proto"] = protocol.slice(0, -1);
  headers["x-forwarded-for"] = passed.client === "" ? "unknown" : passed.client;
  // A layout cannot read its own path from Next, and the sign-in page leads the person back to it.
  headers["x-causeway-path"] = passed.path;
  if (passed.page !== null) {
    // Next takes the nonce of its own scripts from the policy header of the request.
    headers["content-security-policy"] = passed.page.policy;
    headers["x-causeway-nonce"] = passed.page.nonce;
  }
  if (passed.bodyBytes > 0) headers["content-length"] = String(passed.bodyBytes);
  return headers;
};

const USER_AGENT_LENGTH_MAX = 300;

/**
 * The origin of a request, for records.
 * @param address of the caller behind the trusted proxies; empty when unknown
 */
export const requestContext = (
  requestId: string,
  address: string,
  userAgent: string | null,
): RequestContext => ({
  requestId,
  clientAddress: address === "" ? null : address,
  clientNetwork: address === "" ? null : addressBucket(address),
  ...(userAgent === null ? {} : { userAgent: userAgent.slice(0, USER_AGENT_LENGTH_MAX) }),
});

import type { IncomingHttpHeaders } from "node:http";

/**
 * Headers of one connection only (RFC 9110, 7.6.1), or replaced by this server. The body is passed on as a whole, with its length; answers
 * are compressed here, so the pages send them plain.
 */
const NOT_PASSED_ON = new Set([
  ..."connection keep-alive proxy-connection proxy-authorization te trailer transfer-encoding upgrade expect".split(
    " ",
  ),
  ..."host content-length accept-encoding forwarded x-real-ip x-causeway-path x-causeway-nonce".split(" "),
  ..."content-security-policy content-security-policy-report-only".split(" "),
]);
const FORWARDED_PREFIX = "x-forwarded-";

interface Passed {
  /** Address of the caller, trusted proxies considered. */
  readonly client: string;
  /** Origin of the app as browsers see it. */
  readonly publicUrl: string;
  /** The request's path with its query. */
  readonly path: string;
  readonly bodyBytes: number;
  /** The nonce of a page's inline scripts and styles, and the policy that names it; null for a file. */
  readonly page: { readonly nonce: string; readonly policy: string } | null;
}

/**
 * Headers for the pages' process, which trusts them about the caller. This function writes all of them and drops the ones that came
 * from outside.
 */
export const passedHeaders = (incoming: IncomingHttpHeaders, passed: Passed): Record<string, string | string[]> => {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(incoming))
    if (value !== undefined && !NOT_PASSED_ON.has(name) && !name.startsWith(FORWARDED_PREFIX)) headers[name] = value;
  const { host, protocol } = new URL(passed.publicUrl);
  headers.host = host;
  headers["x-forwarded-host"] = host;
  headers["x-forwarded-proto"] = protocol.slice(0, -1);
  headers["x-forwarded-for"] = passed.client === "" ? "unknown" : passed.client;
  // Layouts do not know their path; the sign-in page leads back to it.
  headers["x-causeway-path"] = passed.path;
  if (passed.page !== null) {
    // Next takes the nonce of its own scripts from the policy, where a request carries one.
    headers["content-security-policy"] = passed.page.policy;
    headers["x-causeway-nonce"] = passed.page.nonce;
  }
  if (passed.bodyBytes > 0) headers["content-length"] = String(passed.bodyBytes);
  return headers;
};

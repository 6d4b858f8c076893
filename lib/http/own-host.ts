import { isLoopback } from "@/lib/platform/config/production";
import { DomainError, notFound } from "@/lib/core/errors";
import { parseUrl } from "@/lib/core/redaction";
import { createHash, timingSafeEqual } from "node:crypto";
import type { HttpInput } from "./input";

/** A name or an address with an optional port, without any other part of a URL. */
const HOST = /^[a-z0-9._:[\]-]+$/i;

/**
 * Whether the header `Host` names this machine or the host of `PUBLIC_URL`, on any port. A page of
 * another site can point its own host name at 127.0.0.1 (DNS rebinding), and could then read
 * answers as if they came from its own site. The requests of such a page have its own host name in
 * `Host`.
 */
export const isOwnHost = (host: string | null, publicUrl: string): boolean => {
  const named =
    host !== null && HOST.test(host) ? parseUrl(`http://${host}`)?.hostname : undefined;
  return named !== undefined && (isLoopback(named) || named === parseUrl(publicUrl)?.hostname);
};

/**
 * Rejects a request that another site's page sends by DNS rebinding.
 * @throws DomainError `forbidden` for a request whose `Host` is neither this machine nor
 * `PUBLIC_URL`
 */
const requireOwnHost = (host: string | null, publicUrl: string): void => {
  if (isOwnHost(host, publicUrl)) return;
  throw new DomainError(
    "forbidden",
    `This address answers only as localhost, 127.0.0.1, [::1] or ${parseUrl(publicUrl)?.hostname ?? publicUrl}, so that no page of another site can read it. Use one of these names.`,
  );
};

interface Asked {
  /** Path relative to the origin for a page, and relative to /api for a route. */
  readonly path: string;
  readonly host: string | null;
  readonly config: { readonly env: "development" | "production"; readonly publicUrl: string };
}

/**
 * Refuses every page and route below `/dev` outside of development. Other paths pass.
 * @throws DomainError `not_found` in production; `forbidden` for a request with another site's name
 */
export const requireDevelopment = ({ path, host, config }: Asked): void => {
  if (path !== "/dev" && !path.startsWith("/dev/")) return;
  if (config.env === "production") throw notFound();
  requireOwnHost(host, config.publicUrl);
};

interface Asking {
  readonly token: string | null;
  readonly publicUrl: string;
  /** Address of the peer that opened the connection. */
  readonly peerAddress: string;
  /** @param name in lower case */
  header(name: string): string | null;
}

const FORWARDING = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-real-ip",
  "forwarded",
  "via",
] as const;
const BEARER = /^Bearer +(\S+)$/i;
const MAPPED = /^::ffff:/;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const hasToken = ({ token, header }: Asking): boolean => {
  const given = BEARER.exec(header("authorization") ?? "")?.[1] ?? "";
  return token !== null && timingSafeEqual(digest(given), digest(token));
};

/**
 * Whether a client on this machine opened the connection itself. A proxy on this machine does not
 * count, because it forwards the requests of others.
 */
const isOnThisMachine = ({ peerAddress, header }: Asking): boolean =>
  isLoopback(peerAddress.replace(MAPPED, "")) &&
  FORWARDING.every((name) => header(name) === null);

/**
 * Refuses a request for the metrics without the configured token. When no token is configured, only
 * a client on this machine may read them, with a host name of this machine.
 * @throws DomainError `unauthorized` for a wrong token; when no token is configured, `not_found`
 * for another machine and `forbidden` for another site's name
 */
export const requireMetricsAccess = (asking: Asking): void => {
  if (asking.token !== null) {
    if (hasToken(asking)) return;
    throw new DomainError(
      "unauthorized",
      "The metrics need the header Authorization: Bearer <METRICS_TOKEN>.",
    );
  }
  if (!isOnThisMachine(asking)) throw notFound();
  requireOwnHost(asking.header("host"), asking.publicUrl);
};

/**
 * Whether the caller operates the service: it has the token, or runs on the same machine. Such
 * callers see which part fails, and versions.
 */
export const isOperator = (asking: Asking): boolean =>
  hasToken(asking) ||
  (isOnThisMachine(asking) && isOwnHost(asking.header("host"), asking.publicUrl));

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses a change that a browser sends on behalf of another site's page. The browser adds the
 * dashboard's cookie to such a request, so the cookie does not prove who caused it. The browser
 * itself sets `Origin` and `Sec-Fetch-Site`, and a page cannot change them. A request without
 * `Cookie`, `Origin` and `Sec-Fetch-Site` has no session and passes.
 * @throws DomainError `forbidden`
 */
export const requireOwnPage = (
  input: Pick<HttpInput, "header">,
  method: string,
  ownOrigin: string,
): void => {
  if (READING.has(method)) return;
  const origin = input.header("origin");
  const site = input.header("sec-fetch-site");
  if (origin === ownOrigin || site === "same-origin") return;
  if (origin === null && site === null && input.header("cookie") === null) return;
  throw new DomainError(
    "forbidden",
    `This request did not come from a page of this service, so nothing was changed. Open the dashboard at ${ownOrigin} and try again.`,
  );
};

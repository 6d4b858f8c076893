import { createHash, timingSafeEqual } from "node:crypto";
import { DomainError, notFound } from "@/lib/core/errors";
import { isLoopback } from "@/lib/config/production";

interface Asking {
  /** `METRICS_TOKEN`. */
  readonly token: string | null;
  readonly peerAddress: string;
  /** @param name in lower case */
  header(name: string): string | null;
}

const FORWARDING = ["x-forwarded-for", "forwarded", "via"] as const;
const BEARER = /^Bearer +(\S+)$/i;
const MAPPED = /^::ffff:/;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Refuses a request for the metrics that lacks the configured token. Without a configured token only a client on this machine may read
 * them, and not through a proxy: a proxy on this machine forwards the requests of others.
 * @throws DomainError `unauthorized` for a wrong token; `not_found` for another machine where no token is configured
 */
export const requireMetricsAccess = ({ token, peerAddress, header }: Asking): void => {
  if (token !== null) {
    const given = BEARER.exec(header("authorization") ?? "")?.[1] ?? "";
    if (timingSafeEqual(digest(given), digest(token))) return;
    throw new DomainError("unauthorized", "The metrics need the header Authorization: Bearer <METRICS_TOKEN>.");
  }
  const isPassedOn = FORWARDING.some((name) => header(name) !== null);
  if (isPassedOn || !isLoopback(peerAddress.replace(MAPPED, ""))) throw notFound();
};

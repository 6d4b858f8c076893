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
 * Lets whoever has the token read the metrics. Without a token in the configuration only this machine may, and nobody whose request a
 * proxy on this machine has passed on.
 * @throws DomainError `unauthorized`; `not_found` where nobody but this machine may
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

import { addressBucket, clientAddress } from "./client-address";
import type { HttpInput } from "./input";
import { getLogger, loggedError } from "@/lib/log/logger";
import { createRateLimiter, rateLimited, type RateDecision, type RateLimiter } from "./rate-limit";
import type { HttpServices } from "./services";

/** The decisions about a request so far, by name of the policy. */
export type Decisions = [string, RateDecision][];

export type LimitServices = Pick<HttpServices, "config" | "clock" | "rateStore">;

const limiters = new WeakMap<HttpServices["rateStore"], RateLimiter>();

/** One limiter for the API and the pages, so that their requests count together. */
const limiterOf = (services: LimitServices): RateLimiter => {
  const known = limiters.get(services.rateStore);
  if (known) return known;
  const logger = getLogger(services.config.logLevel);
  const limiter = createRateLimiter(services.rateStore, {
    onError: (error) => logger.warn({ err: loggedError(error) }, "rate limits could not be shared"),
  });
  limiters.set(services.rateStore, limiter);
  return limiter;
};

interface Share {
  readonly name: string;
  readonly who: string;
  /** Requests per window; 0 is no limit. */
  readonly perWindow: number;
}

/** Counts the request against a limit. @throws DomainError `rate_limited` */
export const limit = (services: LimitServices, decisions: Decisions, { name, who, perWindow }: Share): void => {
  if (perWindow === 0) return;
  const decision = limiterOf(services).take(`${name}:${who}`, perWindow, services.clock.now().getTime());
  decisions.push([name, decision]);
  if (!decision.allowed) throw rateLimited(decision);
};

/**
 * Counts the request against the limits of its network: the one for all requests, and for attempts to sign in a stricter one.
 * @throws DomainError `rate_limited`
 */
export const limitNetwork = (
  services: LimitServices,
  decisions: Decisions,
  { network, signInAttempt }: { readonly network: string; readonly signInAttempt: boolean },
): void => {
  const { config } = services;
  limit(services, decisions, { name: "ip", who: network, perWindow: config.rateLimitPerIp });
  if (signInAttempt)
    limit(services, decisions, { name: "sign-in", who: network, perWindow: config.rateLimitSignInPerIp });
};

/** Counts a request that no route answers. @throws DomainError `rate_limited` */
export const countRequest = (services: LimitServices, input: HttpInput, signInAttempt = false): void => {
  const network = addressBucket(clientAddress(input, services.config.trustedProxyHops));
  limitNetwork(services, [], { network, signInAttempt });
};

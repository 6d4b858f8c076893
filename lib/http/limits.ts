import { addressBucket, clientAddress, type HttpInput } from "./input";
import { getLogger, loggedError } from "@/lib/platform/log/logger";
import {
  createRateLimiter,
  type RateDecision,
  rateLimited,
  type RateLimiter,
} from "./rate-limit";
import type { HttpServices } from "./services";

/** The decisions about a request so far, as pairs of the policy's name and the decision. */
export type Decisions = [string, RateDecision][];

export type LimitServices = Pick<HttpServices, "config" | "clock" | "rateStore">;

const limiters = new WeakMap<HttpServices["rateStore"], RateLimiter>();

/** One limiter for the API and the pages, so that their requests count together. */
const limiterOf = (services: LimitServices): RateLimiter => {
  const known = limiters.get(services.rateStore);
  if (known) return known;
  const logger = getLogger(services.config.logLevel);
  const limiter = createRateLimiter(services.rateStore, {
    onError: (error) =>
      logger.warn({ err: loggedError(error) }, "rate limits could not be shared"),
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

const keyOf = ({ name, who }: Share): string => `${name}:${who}`;

/**
 * Counts against a limit, based only on the counts that this process has. @throws DomainError
 * `rate_limited`
 */
const countLocally = (services: LimitServices, share: Share): void => {
  if (share.perWindow === 0) return;
  const decision = limiterOf(services).take(
    keyOf(share),
    share.perWindow,
    services.clock.now().getTime(),
  );
  if (!decision.allowed) throw rateLimited(decision);
};

/**
 * Counts the request against a limit, exactly over all instances.
 * @returns null when the decision is immediate, otherwise a promise that resolves after the
 * decision
 * @throws DomainError `rate_limited`, directly or as the rejection of the promise
 */
export const limit = (
  services: LimitServices,
  decisions: Decisions,
  share: Share,
): Promise<void> | null => {
  const { name, perWindow } = share;
  if (perWindow === 0) return null;
  const settle = (decision: RateDecision): void => {
    decisions.push([name, decision]);
    if (!decision.allowed) throw rateLimited(decision);
  };
  const decision = limiterOf(services).admit(
    keyOf(share),
    perWindow,
    services.clock.now().getTime(),
  );
  if (decision instanceof Promise) return decision.then(settle);
  settle(decision);
  return null;
};

interface NetworkUse {
  readonly network: string;
  readonly signInAttempt: boolean;
}

/** The limits of a network: one for all requests, and a stricter one for attempts to sign in. */
const sharesOf = (
  { config }: LimitServices,
  { network: who, signInAttempt }: NetworkUse,
): readonly [requests: Share, attempts?: Share] => {
  const requests = { name: "ip", who, perWindow: config.rateLimitPerIp };
  return signInAttempt
    ? [requests, { name: "sign-in", who, perWindow: config.rateLimitSignInPerIp }]
    : [requests];
};

/**
 * Counts the request against the limits of its network, exactly over all instances.
 * @returns null when the decision is immediate, otherwise a promise that resolves after the
 * decision
 * @throws DomainError `rate_limited`, directly or as the rejection of the promise
 */
export const limitNetwork = (
  services: LimitServices,
  decisions: Decisions,
  use: NetworkUse,
): Promise<void> | null => {
  const [requests, attempts] = sharesOf(services, use);
  const counted = limit(services, decisions, requests);
  if (attempts === undefined) return counted;
  // A request that the first limit refuses does not count against the second.
  if (counted === null) return limit(services, decisions, attempts);
  return counted.then(async () => {
    await limit(services, decisions, attempts);
  });
};

/**
 * Like `limitNetwork`, for cases that cannot wait: connections, and answers to requests that no
 * route handles.
 */
export const countNetwork = (services: LimitServices, network: string): void => {
  const [requests] = sharesOf(services, { network, signInAttempt: false });
  countLocally(services, requests);
};

const networkOf = (services: LimitServices, input: HttpInput): string =>
  addressBucket(clientAddress(input, services.config.trustedProxyHops));

/** Counts a request that no route handles. @throws DomainError `rate_limited` */
export const countRequest = (services: LimitServices, input: HttpInput): void =>
  countNetwork(services, networkOf(services, input));

/**
 * Counts a request for the pages, exactly over all instances.
 * @throws DomainError `rate_limited`
 */
export const limitRequest = (
  services: LimitServices,
  input: HttpInput,
  signInAttempt: boolean,
): Promise<void> | null =>
  limitNetwork(services, [], { network: networkOf(services, input), signInAttempt });

import { createBatcher } from "@/lib/core/batch";
import { resultWithin } from "@/lib/core/deadline";
import { DomainError } from "@/lib/core/errors";
import {
  BATCH_MAX,
  createRateCounter,
  RATE_WINDOW_MS,
  type RateCounter,
  type RateCounterOptions,
  type RateStore,
} from "./rate-counter";

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Statements for requests that run at the same time. */
const LANES = 2;
const ANSWER_WITHIN_MS = 250;

export interface RateLimiter {
  /** Counts one request against `bucket` unless it is over `limit`. A promise where the store has to say so, else the decision. */
  admit(bucket: string, limit: number, nowMs: number): RateDecision | Promise<RateDecision>;
  /** As `admit`, by the counts that this process knows. Awaits nothing. */
  take(bucket: string, limit: number, nowMs: number): RateDecision;
  /** Sends what is pending and waits for it; for tests and for the end of the process. */
  flush(): Promise<void>;
}

interface RateLimiterOptions extends RateCounterOptions {
  /** For how long a request waits for the store, at most. Default 250. */
  readonly answerWithinMs?: number;
}

interface Ask {
  readonly bucket: string;
  readonly at: ReturnType<RateCounter["at"]>;
  readonly limit: number;
}

const decide = ({ limit, at }: Pick<Ask, "limit" | "at">, allowed: boolean, remaining: number): RateDecision => ({
  allowed,
  limit,
  remaining: Math.max(0, remaining),
  resetSeconds: at.resetSeconds,
});

/** Requests of one window go out as one number. */
const grouped = (asks: readonly Ask[]): readonly Ask[][] => {
  const groups = new Map<string, Ask[]>();
  for (const ask of asks) {
    const name = `${ask.bucket} ${String(ask.at.start)}`;
    const group = groups.get(name);
    if (group) group.push(ask);
    else groups.set(name, [ask]);
  }
  return [...groups.values()];
};

const incrementOf = (group: readonly Ask[]) => {
  const [first] = group;
  if (first === undefined) throw new Error("A group of requests has at least one.");
  const { bucket, at } = first;
  return { window: at.window, increment: { bucket, windowStart: new Date(at.start), by: group.length } };
};

/**
 * Fixed windows of 60 s, shared by all instances through `store`.
 *
 * `admit` is exact: the store gives each request its number in the window, and the requests up to the limit pass, whichever instance
 * they reach. The requests that come while statements run go out together in the next one, so a loaded instance sends few statements.
 * A request over a limit that this process knows to be used up is refused without the store. Tokens leased ahead would save the wait,
 * but while one instance holds unused ones another refuses too early, or both pass too many.
 *
 * `take` only counts in memory, and its counts go out every 100 ms: for connections, which cannot wait. While the store fails or is
 * slow, `admit` does the same: each instance uses its own counts, limits become looser, and the service continues.
 */
export const createRateLimiter = (store: RateStore, options: RateLimiterOptions = {}): RateLimiter => {
  const counter = createRateCounter(store, options);
  const ask = async (asks: readonly Ask[]): Promise<readonly (RateDecision | Error)[]> => {
    const groups = grouped(asks);
    const sent = counter.send(groups.map(incrementOf));
    const totals = await resultWithin(sent, options.answerWithinMs ?? ANSWER_WITHIN_MS);
    if (totals === null) counter.callAway();
    const decisions = new Map<Ask, RateDecision>();
    groups.forEach((group, which) => {
      const before = (totals?.[which] ?? 0) - group.length;
      group.forEach((one, index) => {
        const number = before + index + 1;
        // Without an answer each was under its limit by this process's own counts.
        const decision =
          totals === null
            ? decide(one, true, one.limit - one.at.used - 1)
            : decide(one, number <= one.limit, one.limit - number);
        decisions.set(one, decision);
      });
    });
    return asks.map((one) => decisions.get(one) ?? new Error("A request was given no number."));
  };

  const asking = createBatcher<Ask, RateDecision>({ run: ask, batchWeightMax: BATCH_MAX, lanes: LANES });

  const take = (bucket: string, limit: number, nowMs: number): RateDecision => {
    const at = counter.at(bucket, nowMs);
    if (at.used >= limit) return decide({ limit, at }, false, 0);
    counter.countLater(bucket, at.window);
    return decide({ limit, at }, true, limit - at.used - 1);
  };

  const admit = (bucket: string, limit: number, nowMs: number): RateDecision | Promise<RateDecision> => {
    if (counter.isAway()) return take(bucket, limit, nowMs);
    const at = counter.at(bucket, nowMs);
    if (at.used >= limit) return decide({ limit, at }, false, 0);
    at.window.inFlight += 1;
    return asking.submit({ bucket: counter.nameOf(bucket, at.window), at, limit });
  };

  return { take, admit, flush: () => counter.flush() };
};

const WINDOW_SECONDS = RATE_WINDOW_MS / 1000;

/**
 * Adds `RateLimit-Policy` and `RateLimit`, structured fields (draft-ietf-httpapi-ratelimit-headers-10).
 * @param decisions by name of the policy: `ip`, `caller`
 */
export const setRateLimitHeaders = (
  headers: Record<string, string>,
  decisions: readonly (readonly [string, RateDecision])[],
): void => {
  let policy = "";
  let state = "";
  for (const [name, decision] of decisions) {
    const separator = policy === "" ? "" : ", ";
    policy += `${separator}"${name}";q=${String(decision.limit)};w=${String(WINDOW_SECONDS)}`;
    state += `${separator}"${name}";r=${String(decision.remaining)};t=${String(decision.resetSeconds)}`;
  }
  headers["ratelimit-policy"] = policy;
  headers.ratelimit = state;
};

export const rateLimited = (decision: RateDecision): DomainError =>
  new DomainError(
    "rate_limited",
    `More than ${String(decision.limit)} requests within ${String(WINDOW_SECONDS)} seconds. Wait ${String(decision.resetSeconds)} seconds.`,
    { retryAfterSeconds: decision.resetSeconds },
  );

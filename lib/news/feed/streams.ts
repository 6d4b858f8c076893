import { type Actor, actorName } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Ticker } from "@/lib/core/ticker";
import type { Tx } from "@/lib/platform/db/client";
import {
  CREDENTIAL_CHANNEL,
  notifyEnded,
  type Credential,
  type StreamsRepository,
} from "./streams-repository";

export const STREAM_LIMITS = { caller: 50, network: 200, all: 10_000 } as const;

const CHECK_MS = 1000;
const EXPIRY_MS = 200;
/**
 * After this many consecutive failed checks, all streams end, because any credential may have
 * ended in the meantime.
 */
const MISSED_CHECKS_MAX = 5;
const RETRY_AFTER_SECONDS = 5;

export interface StreamsDeps {
  readonly repository: StreamsRepository;
  readonly ticker: Ticker;
  readonly clock: Clock;
  readonly listener: { on(channel: string, handler: (payload: string) => void): () => void };
  /**
   * Whether the streams of a client network are limited. False when clients cannot be distinguished
   * by their addresses.
   */
  readonly limitNetworks: boolean;
}

export interface OpenStream {
  /**
   * Aborts when the caller disconnects, when the stream's credential ends, or when the stream is
   * closed.
   */
  readonly signal: AbortSignal;
  /**
   * Ends the stream: it no longer counts towards the limits, and its signal aborts. Further calls
   * have no effect.
   */
  close(): void;
}

interface Stream {
  readonly credentialId: string;
  readonly expiresAt: Date | null;
  readonly close: () => void;
}

interface Holder {
  readonly credential: Credential;
  readonly streams: Set<Stream>;
}

/**
 * Announces to every instance, when the transaction commits, that a credential ended, so that its
 * streams end at once instead of at the next check.
 * @param id of an API key or a session
 */
export const announceEnded = (tx: Tx, id: string): void => {
  notifyEnded(tx, id);
};

const membershipName = ({
  userId,
  projectId,
}: {
  readonly userId: string;
  readonly projectId: string;
}): string => `${userId} ${projectId}`;

/**
 * Like `announceEnded`, for a person who is no longer a member of the project. The person's streams
 * of other projects continue.
 */
export const announceMemberRemoved = (
  tx: Tx,
  membership: { readonly userId: string; readonly projectId: string },
): void => {
  notifyEnded(tx, membershipName(membership));
};

const credentialOf = (actor: Actor, scope: string): Credential => {
  const { projectId } = actor;
  if (actor.type === "apiKey") return { kind: "apiKey", keyId: actor.keyId, projectId, scope };
  return { kind: "session", sessionId: actor.sessionId, userId: actor.userId, projectId };
};

const idOf = (credential: Credential): string =>
  credential.kind === "apiKey"
    ? `${credential.keyId} ${credential.scope}`
    : `${credential.sessionId} ${credential.projectId}`;

const announcedAs = (credential: Credential): readonly string[] =>
  credential.kind === "apiKey"
    ? [credential.keyId]
    : [credential.sessionId, membershipName(credential)];

const tooMany = (who: string, max: number): DomainError =>
  new DomainError(
    "rate_limited",
    `${who} ${String(max)} event streams open, and may have no more. Close one first.`,
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );

const createCounts = () => {
  const counts = new Map<string, number>();
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add: (name: string, by: 1 | -1): void => {
      const next = (counts.get(name) ?? 0) + by;
      if (next <= 0) counts.delete(name);
      else counts.set(name, next);
    },
  };
};

/**
 * The names under which a stream is counted: its caller, and the client's network if clients can be
 * distinguished.
 */
const namesOf = (
  actor: Actor,
  limitNetworks: boolean,
): { caller: string; network: string | null } => {
  const clientNetwork = limitNetworks ? (actor.request?.clientNetwork ?? null) : null;
  return {
    caller: actorName(actor),
    network: clientNetwork === null ? null : `network:${clientNetwork}`,
  };
};

const createPlaces = () => {
  const counts = createCounts();
  let open = 0;
  /**
   * Checks that the caller, the network and the instance may have one more stream.
   * @throws DomainError `rate_limited`, or `service_unavailable` when the instance is full
   */
  const admit = (caller: string, network: string | null): void => {
    if (counts.of(caller) >= STREAM_LIMITS.caller)
      throw tooMany("You have", STREAM_LIMITS.caller);
    if (network !== null && counts.of(network) >= STREAM_LIMITS.network)
      throw tooMany("Your network address has", STREAM_LIMITS.network);
    if (open < STREAM_LIMITS.all) return;
    const message =
      "This instance has as many event streams open as it may. Try again in a moment.";
    throw new DomainError("service_unavailable", message, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
  return {
    /**
     * Counts one more stream.
     * @returns a function that ends the counting; must be called only once
     * @throws the DomainErrors of `admit`
     */
    take: (caller: string, network: string | null): (() => void) => {
      admit(caller, network);
      const names = network === null ? [caller] : [caller, network];
      for (const name of names) counts.add(name, 1);
      open += 1;
      return () => {
        for (const name of names) counts.add(name, -1);
        open -= 1;
      };
    },
  };
};

const createHolders = () => {
  const holders = new Map<string, Holder>();
  return {
    add: (stream: Stream, credential: Credential): void => {
      const holder = holders.get(stream.credentialId) ?? { credential, streams: new Set() };
      holder.streams.add(stream);
      holders.set(stream.credentialId, holder);
    },
    remove: (stream: Stream): void => {
      const holder = holders.get(stream.credentialId);
      holder?.streams.delete(stream);
      if (holder?.streams.size === 0) holders.delete(stream.credentialId);
    },
    credentials: (): Credential[] => [...holders.values()].map(({ credential }) => credential),
    streamsOf: (credential: Credential): Iterable<Stream> =>
      holders.get(idOf(credential))?.streams ?? [],
    /** Finds the streams whose credential has the announced id. */
    announced: (id: string): Stream[] =>
      [...holders.values()]
        .filter(({ credential }) => announcedAs(credential).includes(id))
        .flatMap((one) => [...one.streams]),
  };
};

/**
 * Limits event streams, and ends each stream with its credential: when a key is revoked, loses the
 * scope or expires, an access token expires, a session ends, or a member is removed. One query a
 * second checks all streams; without streams no query is made.
 */
export const createStreamsService = (deps: StreamsDeps) => {
  const { repository, ticker, clock } = deps;
  const holders = createHolders();
  const streams = new Set<Stream>();
  const places = createPlaces();
  let stopWatching: (() => void) | null = null;
  let isChecking = false;
  let missedChecks = 0;

  const end = (ended: Iterable<Stream>): void => {
    for (const { close } of [...ended]) close();
  };

  const endExpired = (): void => {
    const now = clock.now();
    end([...streams].filter(({ expiresAt }) => expiresAt !== null && expiresAt <= now));
  };

  const check = async (): Promise<void> => {
    missedChecks += 1;
    if (missedChecks > MISSED_CHECKS_MAX) end(streams);
    if (isChecking || streams.size === 0) return;
    isChecking = true;
    try {
      const ended = await repository.ended(holders.credentials(), clock.now());
      missedChecks = 0;
      for (const credential of ended) end(holders.streamsOf(credential));
    } catch {
      // The next check tries again. After several failures every stream ends.
    } finally {
      isChecking = false;
    }
  };

  const startWatching = (): (() => void) => {
    missedChecks = 0;
    const stops = [
      ticker.every(EXPIRY_MS, endExpired),
      ticker.every(CHECK_MS, () => void check()),
      deps.listener.on(CREDENTIAL_CHANNEL, (id) => end(holders.announced(id))),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  };

  const register = (stream: Stream, credential: Credential): void => {
    holders.add(stream, credential);
    streams.add(stream);
    stopWatching ??= startWatching();
  };

  const unregister = (stream: Stream): boolean => {
    if (!streams.delete(stream)) return false;
    holders.remove(stream);
    if (streams.size === 0) {
      stopWatching?.();
      stopWatching = null;
    }
    return true;
  };

  return {
    /**
     * Opens a stream for the actor. An API key needs `scope` while the stream is open.
     * @param options `signal` aborts when the caller disconnects
     * @throws DomainError `rate_limited` beyond 50 streams of a caller or 200 of a client network
     * on this instance; `service_unavailable` when the instance is full
     */
    open: (
      actor: Actor,
      { scope, signal }: { scope: string; signal: AbortSignal },
    ): OpenStream => {
      const { caller, network } = namesOf(actor, deps.limitNetworks);
      const freePlace = places.take(caller, network);
      const credential = credentialOf(actor, scope);
      const aborter = new AbortController();
      const close = (): void => {
        if (!unregister(stream)) return;
        signal.removeEventListener("abort", close);
        freePlace();
        aborter.abort();
      };
      const stream: Stream = {
        credentialId: idOf(credential),
        expiresAt: actor.expiresAt ?? null,
        close,
      };
      register(stream, credential);
      signal.addEventListener("abort", close);
      if (signal.aborted) close();
      return { signal: aborter.signal, close };
    },
  };
};

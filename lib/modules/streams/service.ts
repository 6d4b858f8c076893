import { actorName, type Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Ticker } from "@/lib/core/ticker";
import type { Tx } from "@/lib/db/client";
import { CREDENTIAL_CHANNEL, notifyEnded, type Credential, type StreamsRepository } from "./repository";

/** Streams that may be open at one instance at once. */
export const STREAM_LIMITS = { caller: 50, network: 200, all: 10_000 } as const;

const CHECK_MS = 1000;
const EXPIRY_MS = 200;
/** Checks that did not come back, after which no credential counts as good any more. */
const MISSED_CHECKS_MAX = 5;
const RETRY_AFTER_SECONDS = 5;

export interface StreamsDeps {
  readonly repository: StreamsRepository;
  readonly ticker: Ticker;
  readonly clock: Clock;
  readonly listener: { on(channel: string, handler: (payload: string) => void): () => void };
  /** False where clients cannot be told apart by their addresses. */
  readonly limitNetworks: boolean;
}

export interface OpenStream {
  /** Aborts when the caller goes away, when the credential with which the stream was opened ends, or when it is closed. */
  readonly signal: AbortSignal;
  /** Gives the place free and aborts the signal; once is enough. */
  close(): void;
}

interface Stream {
  readonly credentialId: string;
  readonly expiresAt: Date | null;
  readonly close: () => void;
}

/** The streams that one credential holds open. */
interface Holder {
  readonly credential: Credential;
  readonly streams: Set<Stream>;
}

/**
 * Says that a credential ended (an API key's or session's id), to every instance, when the transaction commits. Streams also find out
 * by themselves, a moment later.
 */
export const announceEnded = (tx: Tx, id: string): Promise<void> => notifyEnded(tx, id);

const credentialOf = (actor: Actor, scope: string): Credential => {
  const { projectId } = actor;
  if (actor.type === "apiKey") return { kind: "apiKey", keyId: actor.keyId, projectId, scope };
  return { kind: "session", sessionId: actor.sessionId, userId: actor.userId, projectId };
};

const idOf = (credential: Credential): string =>
  credential.kind === "apiKey"
    ? `${credential.keyId} ${credential.scope}`
    : `${credential.sessionId} ${credential.projectId}`;

const announcedAs = (credential: Credential): string =>
  credential.kind === "apiKey" ? credential.keyId : credential.sessionId;

const tooMany = (who: string, max: number): DomainError =>
  new DomainError("rate_limited", `${who} ${String(max)} event streams open, and may have no more. Close one first.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** How many of something each name has. */
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
 * Places for streams, and their end with the credential that opened them: a key that was revoked, lost the scope or expired, a token
 * past its time, a session that was ended, a member who was removed. One query a second for all of them, and none without streams.
 */
export const createStreamsService = (deps: StreamsDeps) => {
  const { repository, ticker, clock } = deps;
  const holders = new Map<string, Holder>();
  const streams = new Set<Stream>();
  const counts = createCounts();
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

  const endAnnounced = (id: string): void => {
    for (const { credential, streams: held } of [...holders.values()]) if (announcedAs(credential) === id) end(held);
  };

  const check = async (): Promise<void> => {
    missedChecks += 1;
    if (missedChecks > MISSED_CHECKS_MAX) end(streams);
    if (isChecking || streams.size === 0) return;
    isChecking = true;
    try {
      const ended = await repository.ended(
        [...holders.values()].map(({ credential }) => credential),
        clock.now(),
      );
      missedChecks = 0;
      for (const credential of ended) end(holders.get(idOf(credential))?.streams ?? []);
    } catch {
      // The next check tries again; after a few of them the streams end.
    } finally {
      isChecking = false;
    }
  };

  const startWatching = (): (() => void) => {
    missedChecks = 0;
    const stops = [
      ticker.every(EXPIRY_MS, endExpired),
      ticker.every(CHECK_MS, () => void check()),
      deps.listener.on(CREDENTIAL_CHANNEL, endAnnounced),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  };

  const register = (stream: Stream, credential: Credential): void => {
    const holder = holders.get(stream.credentialId) ?? { credential, streams: new Set() };
    holder.streams.add(stream);
    holders.set(stream.credentialId, holder);
    streams.add(stream);
    stopWatching ??= startWatching();
  };

  const unregister = (stream: Stream): boolean => {
    if (!streams.delete(stream)) return false;
    const holder = holders.get(stream.credentialId);
    holder?.streams.delete(stream);
    if (holder?.streams.size === 0) holders.delete(stream.credentialId);
    if (streams.size === 0) {
      stopWatching?.();
      stopWatching = null;
    }
    return true;
  };

  const admit = (caller: string, network: string | null): void => {
    if (counts.of(caller) >= STREAM_LIMITS.caller) throw tooMany("You have", STREAM_LIMITS.caller);
    if (network !== null && counts.of(network) >= STREAM_LIMITS.network)
      throw tooMany("Your network address has", STREAM_LIMITS.network);
    if (streams.size < STREAM_LIMITS.all) return;
    const message = "This instance has as many event streams open as it may. Try again in a moment.";
    throw new DomainError("service_unavailable", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  };

  return {
    /**
     * Takes a place for a stream of the actor, whose API key needs `scope` for as long as it runs.
     * @param signal aborts when the caller goes away
     * @throws DomainError `rate_limited` beyond 50 streams of a caller or 200 of a client network at this instance
     */
    open: (actor: Actor, { scope, signal }: { scope: string; signal: AbortSignal }): OpenStream => {
      const caller = actorName(actor);
      const clientNetwork = deps.limitNetworks ? (actor.request?.clientNetwork ?? null) : null;
      const network = clientNetwork === null ? null : `network:${clientNetwork}`;
      admit(caller, network);
      const credential = credentialOf(actor, scope);
      const aborter = new AbortController();
      const close = (): void => {
        if (!unregister(stream)) return;
        signal.removeEventListener("abort", close);
        for (const name of [caller, network]) if (name !== null) counts.add(name, -1);
        aborter.abort();
      };
      const stream: Stream = { credentialId: idOf(credential), expiresAt: actor.expiresAt ?? null, close };
      for (const name of [caller, network]) if (name !== null) counts.add(name, 1);
      register(stream, credential);
      signal.addEventListener("abort", close);
      if (signal.aborted) close();
      return { signal: aborter.signal, close };
    },
  };
};

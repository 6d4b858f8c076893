import type { Clock } from "@/lib/core/clock";
import { readCallback, type CallbackSource } from "./events";
import type { CallbacksRepository } from "./repository";
import { signedAt, verifyCallback, type CallbackSenders, type SentCallback, type VerifiedBy } from "./verify";

export interface CallbackMetrics {
  /** Counts a callback by what became of it; `repeated` was stored before, `unknown` has a status that this version does not know. */
  received(source: CallbackSource, outcome: "new" | "repeated" | "unknown" | "refused"): void;
  /** From the provider's signature to now. */
  delayed(source: CallbackSource, lagMs: number): void;
}

export interface CallbacksDeps {
  readonly repository: CallbacksRepository;
  readonly senders: CallbackSenders;
  readonly clock: Clock;
  readonly metrics: CallbackMetrics;
}

/**
 * Receives callbacks of routing providers and bundlers. A callback changes no state: it makes the jobs of the operations that it names
 * due, and each job asks the chain or the provider.
 */
export const createCallbacksService = ({ repository, senders, clock, metrics }: CallbacksDeps) => ({
  /** @throws DomainError `invalid_signature` */
  verify: (source: CallbackSource, sent: SentCallback): VerifiedBy => {
    try {
      const now = clock.now();
      const by = verifyCallback(senders, sent, now);
      const signed = signedAt(senders, by, sent);
      if (signed !== null) metrics.delayed(source, now.getTime() - signed.getTime());
      return by;
    } catch (error) {
      metrics.received(source, "refused");
      throw error;
    }
  },

  /** Repeats are counted and change nothing. @throws DomainError `invalid_request` for anything but a JSON object */
  receive: async (
    source: CallbackSource,
    sent: { readonly raw: Uint8Array; readonly body: unknown; readonly verifiedBy: VerifiedBy },
  ): Promise<{ received: true }> => {
    const event = readCallback({ source, raw: sent.raw, body: sent.body }, senders.providers);
    const callback = { source, event, verifiedBy: sent.verifiedBy, raw: sent.raw, receivedAt: clock.now() };
    const { isNew } = await repository.receive(callback);
    metrics.received(source, !isNew ? "repeated" : event.isKnown ? "new" : "unknown");
    return { received: true };
  },
});

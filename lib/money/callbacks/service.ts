import type { Clock } from "@/lib/core/clock";
import {
  type CallbackSenders,
  type CallbackSource,
  readCallback,
  type SentCallback,
  signedAt,
  type VerifiedBy,
  verifyCallback,
} from "./verify";
import type { CallbacksRepository } from "./repository";

export interface CallbackMetrics {
  /**
   * Counts a callback by its outcome. `repeated`: was stored before. `unknown`: has an unknown type
   * or status.
   */
  received(source: CallbackSource, outcome: "new" | "repeated" | "unknown" | "refused"): void;
  /** Measures the time from the provider's signature until now. */
  delayed(source: CallbackSource, lagMs: number): void;
}

export interface CallbacksDeps {
  readonly repository: CallbacksRepository;
  readonly senders: CallbackSenders;
  readonly clock: Clock;
  readonly metrics: CallbackMetrics;
}

/**
 * Receives callbacks of routing providers and bundlers. A callback changes no state: it makes the
 * jobs of its operations due, and each job queries the chain or the provider.
 */
export const createCallbacksService = ({
  repository,
  senders,
  clock,
  metrics,
}: CallbacksDeps) => ({
  /**
   * Verifies the sender's signature.
   * @throws DomainError `invalid_signature`
   */
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

  /**
   * Stores a callback. A repeated one is counted and has no other effect.
   * @throws DomainError `invalid_request` unless the body is a JSON object
   */
  receive: async (
    source: CallbackSource,
    sent: { readonly raw: Uint8Array; readonly body: unknown; readonly verifiedBy: VerifiedBy },
  ): Promise<{ received: true }> => {
    const event = readCallback({ source, raw: sent.raw, body: sent.body }, senders.providers);
    const callback = {
      source,
      event,
      verifiedBy: sent.verifiedBy,
      raw: sent.raw,
      receivedAt: clock.now(),
    };
    const { isNew } = await repository.receive(callback);
    metrics.received(source, !isNew ? "repeated" : event.isKnown ? "new" : "unknown");
    return { received: true };
  },
});

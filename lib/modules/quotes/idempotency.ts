import { createHash } from "node:crypto";
import { actorName, type Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { Quote } from "./quote";
import type { IdempotencyUse, QuotesRepository } from "./repository";

/** @param input parsed by its contract, so that equal requests have equal field order and spelling */
export const idempotencyUseOf = (key: string | null, input: object): IdempotencyUse | null =>
  key === null ? null : { key, digest: new Uint8Array(createHash("sha256").update(JSON.stringify(input)).digest()) };

/**
 * The quote that an earlier call with the same Idempotency-Key made, or null. It is found also when the HTTP layer no longer stores that call's answer.
 * @throws DomainError `idempotency_mismatch` when its key was used for something else
 */
export const findEarlierQuote = async (
  repository: QuotesRepository,
  { actor, kind, idempotency }: { actor: Actor; kind: string; idempotency: IdempotencyUse | null },
): Promise<Quote | null> => {
  if (idempotency === null) return null;
  const caller = { projectId: actor.projectId, createdBy: actorName(actor) };
  const quote = await repository.findByKey({ ...caller, kind, idempotencyKey: idempotency.key });
  if (quote === null || Buffer.from(quote.requestDigest ?? []).equals(idempotency.digest)) return quote;
  throw new DomainError(
    "idempotency_mismatch",
    "This Idempotency-Key was used for another request. Nothing was sent for this one.",
  );
};

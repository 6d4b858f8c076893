import { createHash } from "node:crypto";
import { actorName, type Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { Once, QuoteRow, QuotesRepository } from "./repository";

/** @param input parsed by its contract, so that its fields have one order and one spelling */
export const onceOf = (key: string | null, input: object): Once | null =>
  key === null ? null : { key, digest: new Uint8Array(createHash("sha256").update(JSON.stringify(input)).digest()) };

/**
 * What the call made before, also where the answer was lost and the HTTP layer has forgotten it; null where it is new.
 * @throws DomainError `idempotency_mismatch` when its key was used for something else
 */
export const madeBefore = async (
  repository: QuotesRepository,
  { actor, kind, once }: { actor: Actor; kind: string; once: Once | null },
): Promise<QuoteRow | null> => {
  if (once === null) return null;
  const caller = { projectId: actor.projectId, createdBy: actorName(actor) };
  const quote = await repository.findByKey({ ...caller, kind, idempotencyKey: once.key });
  if (quote === null || Buffer.from(quote.requestDigest ?? []).equals(once.digest)) return quote;
  throw new DomainError(
    "idempotency_mismatch",
    "This Idempotency-Key was used for another request. Nothing was sent for this one.",
  );
};

import { createHash } from "node:crypto";
import { actorName, type Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { PrivacyRepository, TransferRow } from "./repository";

/** A caller's Idempotency-Key, and what it was used for. */
export interface Once {
  readonly key: string;
  readonly digest: Uint8Array<ArrayBuffer>;
}

export const onceOf = (key: string | null, kind: string, input: object): Once | null =>
  key === null
    ? null
    : { key, digest: new Uint8Array(createHash("sha256").update(kind).update(JSON.stringify(input)).digest()) };

/** What the same call made before. @throws DomainError `idempotency_mismatch` */
export const madeBefore = async (
  repository: PrivacyRepository,
  actor: Actor,
  once: Once | null,
): Promise<TransferRow | null> => {
  if (once === null) return null;
  const { projectId } = actor;
  const found = await repository.findByKey({ projectId, createdBy: actorName(actor), idempotencyKey: once.key });
  if (found === null || Buffer.from(found.requestDigest ?? []).equals(once.digest)) return found;
  throw new DomainError(
    "idempotency_mismatch",
    "This Idempotency-Key was used for another request. Nothing was sent for this one.",
  );
};

import { createHash } from "node:crypto";
import { actorName, type Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { PrivateTransfer } from "./private-transfer";
import type { PrivacyRepository } from "./repository";

/** A caller's Idempotency-Key, and the SHA-256 of the request that it is used for. */
export interface IdempotentRequest {
  readonly key: string;
  readonly digest: Uint8Array<ArrayBuffer>;
}

/** @returns null when the caller gave no Idempotency-Key */
export const idempotentRequest = (key: string | null, kind: string, input: object): IdempotentRequest | null =>
  key === null
    ? null
    : { key, digest: new Uint8Array(createHash("sha256").update(kind).update(JSON.stringify(input)).digest()) };

/** The columns of a private transfer that remember its request. */
export const idempotencyColumns = (request: IdempotentRequest | null) => ({
  idempotencyKey: request?.key ?? null,
  requestDigest: request?.digest ?? null,
});

/** The transfer that the same call made before; null when it made none. @throws DomainError `idempotency_mismatch` */
export const findEarlier = async (
  repository: Pick<PrivacyRepository, "findByKey">,
  actor: Actor,
  request: IdempotentRequest | null,
): Promise<PrivateTransfer | null> => {
  if (request === null) return null;
  const { projectId } = actor;
  const found = await repository.findByKey({ projectId, createdBy: actorName(actor), idempotencyKey: request.key });
  if (found === null || Buffer.from(found.requestDigest ?? []).equals(request.digest)) return found;
  throw new DomainError(
    "idempotency_mismatch",
    "This Idempotency-Key was used for another request. Nothing was sent for this one.",
  );
};

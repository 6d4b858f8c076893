/**
 * Authenticates an evaluation with the application secret, so that somebody who can write to the
 * database but does not know the secret cannot forge an evaluation.
 */
import type { Secrets } from "@/lib/platform/encryption/service";

/** The fields of an evaluation that the MAC covers, because the signer relies on them. */
export interface Sealed {
  readonly projectId: string;
  readonly id: string;
  readonly subjectType: string;
  readonly subjectId: string | null;
  /** SHA-256 of the movement's parameters. */
  readonly digest: Uint8Array;
  readonly decision: string;
}

/** Purpose of the MAC key, which is derived from the application secret. */
const PURPOSE = "policy-evaluation";

const textOf = ({ projectId, id, subjectType, subjectId, digest, decision }: Sealed): string =>
  JSON.stringify([
    "causeway-policy-1",
    projectId,
    id,
    subjectType,
    subjectId,
    Buffer.from(digest).toString("hex"),
    decision,
  ]);

/** HMAC-SHA256 (RFC 2104) over the evaluation's id, subject, digest and decision. */
export const sealOf = (secrets: Pick<Secrets, "hash">, evaluation: Sealed): Uint8Array =>
  secrets.hash(PURPOSE, textOf(evaluation));

/**
 * Whether this service made the stored evaluation, under the current or the previous application
 * secret.
 */
export const isSealed = (
  secrets: Pick<Secrets, "matches">,
  { mac, ...evaluation }: Sealed & { readonly mac: Uint8Array },
): boolean => secrets.matches(PURPOSE, textOf(evaluation), mac);

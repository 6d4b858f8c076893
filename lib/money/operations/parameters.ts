import { createHash } from "node:crypto";
import type { SignedPermit } from "@/lib/chain/smart-accounts/service";
import { asStoredRouteLeg, type Leg } from "./leg";
import type { Failure } from "./rows";
import { asStoredRequest, type Operation } from "./operation";
import { keysAmong, partiesOf, type PolicyEngine } from "@/lib/trust/policies/service";
import { DomainError } from "@/lib/core/errors";
import { reasonOf } from "@/lib/trust/screening/service";

// The digest of the parameters that the policies evaluated. The signer computes the digest again
// and signs only when it is the same.

/** JSON with sorted keys, so that a row has the same text before and after storage. */
const canonical = (value: unknown): string => {
  if (typeof value === "bigint") return JSON.stringify(value.toString());
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
};

/**
 * Converts the texts of a permit to lower case. The case of addresses and bytes has no meaning, so
 * it must not change the digest.
 */
const lowerCased = (permit: SignedPermit): object =>
  Object.fromEntries(
    Object.entries(permit).map(([name, value]) => [
      name,
      typeof value === "string" ? value.toLowerCase() : value,
    ]),
  );

// Returns the part of a leg that the digest covers: only fields that never change after acceptance.
// The leg's state, its hashes, and its spent and received amounts do change.
const legParameters = (leg: Leg): object => ({
  id: leg.id,
  position: leg.position,
  walletId: leg.walletId,
  walletAddress: leg.walletAddress.toLowerCase(),
  executorWalletId: leg.executorWalletId,
  sourceChainId: leg.sourceChainId,
  destChainId: leg.destChainId,
  via: leg.via,
  amountBase: leg.amountBase,
  permit: leg.permit === null ? null : lowerCased(leg.permit),
  routeLeg: asStoredRouteLeg(leg.routeLeg),
});

/**
 * SHA-256 of everything that decides what is signed: wallets, chains, tokens, amounts, route and
 * recipient.
 */
export const parametersDigest = (
  operation: Pick<Operation, "id" | "projectId" | "kind" | "request">,
  legs: readonly Leg[],
): Uint8Array<ArrayBuffer> => {
  const { id, projectId, kind } = operation;
  const request = asStoredRequest(operation.request);
  const ordered = [...legs].sort((a, b) => a.position - b.position);
  const text = canonical({ id, projectId, kind, request, legs: ordered.map(legParameters) });
  return new Uint8Array(createHash("sha256").update(text).digest());
};

/**
 * The failure of an operation that was changed after its policy evaluation, or stored without an
 * evaluation. Such an operation is never signed.
 */
export const NOT_EVALUATED: Failure = {
  code: "policy_violation",
  message:
    "The policies have not allowed this operation as it is stored, so it was not signed. Nothing left the wallet. Start it again; tell the operator of the service when it happens again.",
  retryable: true,
};

export const createSigningPermission =
  ({ isAllowed }: Pick<PolicyEngine, "isAllowed">) =>
  (operation: Operation): Promise<boolean> => {
    const { id, projectId, evaluationId, legs } = operation;
    return isAllowed(projectId, evaluationId, {
      id,
      digest: parametersDigest(operation, legs),
    });
  };

/**
 * When a leg is screened. `sign`: before it is signed; all screening sources are queried again.
 * `broadcast`: before it is sent. `expired`: after its operation expired, to find out whether
 * screening stopped it.
 */
export type ScreenedPhase = "sign" | "broadcast" | "expired";

/**
 * Creates a function that screens a leg's payers and recipient before the leg is signed or sent.
 * @returns the function, which returns the failure that names the list; null when the leg may be
 * sent
 * @throws DomainError `provider_error` when a policy requires a clear verdict and a source gives no
 * verdict now
 */
export const createScreenAgain =
  ({ screenAgain }: Pick<PolicyEngine, "screenAgain">) =>
  async (operation: Operation, leg: Leg, phase: ScreenedPhase): Promise<Failure | null> => {
    const { id, projectId, request, createdBy, legs, evaluationId } = operation;
    const stopped = await screenAgain(
      {
        ...{ projectId, by: createdBy },
        walletIds: [...new Set(legs.map(({ walletId }) => walletId))],
        keyIds: keysAmong(createdBy),
        evaluationId,
        addresses: partiesOf(request),
        subject: {
          type: "operation",
          id,
          part: leg.id,
          phase: phase === "sign" ? "sign" : "broadcast",
        },
      },
      { isRecorded: phase === "sign" || phase === "expired" },
    );
    const hit = stopped.find(({ verdict }) => verdict.state === "hit") ?? stopped[0];
    if (hit === undefined) return null;
    const why = `The address ${hit.address} ${reasonOf(hit.verdict)}`;
    // A source that does not answer now does not explain why the operation expired.
    if (hit.verdict.state !== "hit" && phase === "expired") return null;
    if (hit.verdict.state === "unavailable")
      throw new DomainError("provider_error", `${why}. Nothing was sent; it is tried again.`);
    return {
      code: "screening_refused",
      message: `${why}, so it was not sent. The money is in the wallet. Do not pay this address; ask whoever keeps the list when it is wrong.`,
      retryable: false,
    };
  };

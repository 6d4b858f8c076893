import { DomainError } from "@/lib/core/errors";
import { keysAmong, partiesOf, type PolicyEngine } from "@/lib/modules/policies/service";
import { reasonOf } from "@/lib/modules/screening/service";
import type { Failure, Leg } from "./leg";
import type { Operation } from "./operation";

/** `sign`: asks every source anew. `expired`: only looks up why an operation was not sent any more. */
export type ScreenedPhase = "sign" | "broadcast" | "expired";

/**
 * Makes the screening of a leg before it is signed or sent: all wallets that pay and the recipient.
 * @returns the failure that names the list; null when the leg may leave
 * @throws DomainError `provider_error` when a policy asks for a clear verdict and a source does not give one now
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
        subject: { type: "operation", id, part: leg.id, phase: phase === "sign" ? "sign" : "broadcast" },
      },
      { isRecorded: phase === "sign" || phase === "expired" },
    );
    const hit = stopped.find(({ verdict }) => verdict.state === "hit") ?? stopped[0];
    if (hit === undefined) return null;
    const why = `The address ${hit.address} ${reasonOf(hit.verdict)}`;
    // An operation may have expired for another reason than a source that is silent now.
    if (hit.verdict.state !== "hit" && phase === "expired") return null;
    if (hit.verdict.state === "unavailable")
      throw new DomainError("provider_error", `${why}. Nothing was sent; it is tried again.`);
    return {
      code: "screening_refused",
      message: `${why}, so it was not sent. The money is in the wallet. Do not pay this address; ask whoever keeps the list when it is wrong.`,
      retryable: false,
    };
  };

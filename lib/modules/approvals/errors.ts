import { DomainError } from "@/lib/core/errors";
import type { Approval } from "./repository";
import { toApprovalRequest } from "./serializer";

/** The message of the error is the text to approve: a wallet signs exactly that. */
export const approvalRequired = (approval: Approval): DomainError =>
  new DomainError("approval_required", approval.message, { extra: toApprovalRequest(approval) });

export const approvalUsed = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This approval was used already or has expired. It is good for one change; send the request without it to get another.",
    { details: [{ path: "approval.approvalId", message: "was used already or has expired" }] },
  );

export const wrongSignature = (address: string, path: string): DomainError => {
  const message = `The signature is not one of ${address}, the wallet you sign in with, over the message of this approval. Nothing was changed.`;
  return new DomainError("invalid_signature", message, { details: [{ path, message }] });
};

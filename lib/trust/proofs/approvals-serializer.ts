import { proofsOf, type ChangeKind, type Proof } from "@/lib/contracts/approvable-changes";
import type { Approval } from "./approvals-repository";

type ApprovalRequest = Readonly<{
  approvalId: string;
  expiresAt: string;
  proofs: readonly Proof[];
}>;

/** The fields of a 409 `approval_required` in addition to the message. */
export const toApprovalRequest = (
  { id, expiresAt }: Approval,
  kind: ChangeKind,
): ApprovalRequest => ({
  approvalId: id,
  expiresAt: expiresAt.toISOString(),
  proofs: proofsOf(kind),
});

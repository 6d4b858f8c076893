import type { Approval } from "./repository";

/** What the body of a 409 `approval_required` says beside the message. */
export const toApprovalRequest = ({ id, expiresAt }: Approval): { approvalId: string; expiresAt: string } => ({
  approvalId: id,
  expiresAt: expiresAt.toISOString(),
});

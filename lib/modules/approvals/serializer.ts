import type { Approval } from "./repository";

/** The fields of a 409 `approval_required` beside the message. */
export const toApprovalRequest = ({ id, expiresAt }: Approval): { approvalId: string; expiresAt: string } => ({
  approvalId: id,
  expiresAt: expiresAt.toISOString(),
});

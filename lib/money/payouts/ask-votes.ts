/** Names payouts as the subject of requests for votes, and ends such requests. */
import type { Sql } from "@/lib/platform/db/sql";
import type { AuditEntry } from "@/lib/news/audit/service";
import { cancelDecision } from "@/lib/trust/decisions/service";

export const PAYOUT_SUBJECT = "payout";

/**
 * Ends the open request for votes on a payout. Call it in the transaction that cancels the payout.
 */
export const cancelVotes = async (
  sql: Sql,
  { projectId, at }: AuditEntry,
  id: string,
): Promise<void> => {
  if (projectId !== null)
    await cancelDecision(sql, { projectId, subject: { type: PAYOUT_SUBJECT, id }, at });
};

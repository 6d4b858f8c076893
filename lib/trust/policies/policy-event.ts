import { recordEvents } from "@/lib/news/events/service";
import type { Tx } from "@/lib/platform/db/client";

/**
 * Writes the project's event about a changed policy, in the transaction that changed the policy and
 * so holds its row lock.
 */
export const recordPolicyChange = async (
  tx: Tx,
  changed: {
    readonly projectId: string;
    readonly scope: "project" | "wallet" | "key";
    readonly subjectId: string;
    readonly change: "rules" | "daily_cap" | "approvals";
    /** Version of the rules; null for other changes. */
    readonly version: number | null;
    readonly changedBy: string;
    readonly at: Date;
  },
): Promise<void> => {
  const { projectId, at, ...data } = changed;
  await recordEvents(tx, [
    { projectId, type: "policy.changed", objectId: data.subjectId, data, at },
  ]);
};

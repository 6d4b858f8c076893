import type { SqlReader } from "@/lib/db/sql";
import type { RequiredApproval } from "./facts";

/** The votes of people on movements. */
export interface ApprovalPort {
  /** What an approved request about this subject demanded, which its votes have met; null when there is no such request. */
  approvedBy(
    sql: SqlReader,
    request: {
      readonly projectId: string;
      readonly decisionId: string;
      readonly subject: { readonly type: "operation" | "payout"; readonly id: string };
    },
  ): Promise<RequiredApproval | null>;
}

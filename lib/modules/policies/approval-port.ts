import type { SqlReader } from "@/lib/db/sql";
import type { RequiredApproval } from "./facts";

/** The votes of people on movements. */
export interface ApprovalPort {
  /**
   * The number of people and the roles that a request for votes demanded, once enough people have approved it; null where no request
   * about this subject was approved.
   */
  approvedBy(
    sql: SqlReader,
    request: {
      readonly projectId: string;
      readonly decisionId: string;
      readonly subject: { readonly type: "operation" | "payout"; readonly id: string };
    },
  ): Promise<RequiredApproval | null>;
}

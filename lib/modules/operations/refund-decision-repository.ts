import type { Database } from "@/lib/db/client";
import { recordAuditOn, type AuditEntry } from "@/lib/modules/audit/service";
import { announceJob } from "@/lib/modules/jobs/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { LegMove } from "./step-decision";
import { takeSteps } from "./step-repository";

const WAKE = "UPDATE job SET run_at = least(run_at, $2::timestamptz) WHERE id = $1 AND queue = 'operation'";

export const createRefundDecisionRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "changeReservations" | "freeingParts">,
) => ({
  /**
   * Stores a person's decision: the leg, its claim of a payment, the events and the audit row change together.
   * @returns false when somebody else has moved the leg since it was read; nothing is stored then
   * @throws RefundTakenError when other legs have claimed the payment
   */
  store: (move: LegMove, audit: AuditEntry): Promise<boolean> =>
    database.rawTransaction(async (sql) => {
      const {
        stepped: [stepped],
      } = await takeSteps(sql, sponsorship, [{ kind: "move", move }]);
      if (stepped == null) return false;
      await recordAuditOn(sql, audit);
      await sql.change(WAKE, [move.leg.operationId, move.now]);
      announceJob(sql, "operation");
      return true;
    }),
});

export type RefundDecisionRepository = ReturnType<typeof createRefundDecisionRepository>;

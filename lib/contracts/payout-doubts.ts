/** Decisions about payments of a payout that another operation may have made. */
import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { id } from "./common";
import { defineContract } from "./contract";
import { payoutRecord } from "./payout-records";

export const DOUBT_DECISIONS = ["by_chain", "paid", "not_paid"] as const;

const batch = z
  .int()
  .nonnegative()
  .meta({ description: "Number of the transaction, as `doubts` of the payout names it" });

const reason = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .meta({ description: "How you know, for the audit log" });

export const decidePayoutDoubt = defineContract({
  method: "POST",
  path: "/payouts/{id}/doubt-decision",
  summary: "Settles payments of which it is not known whether another operation made them",
  description:
    "For a batch in `doubts` of a payout to wallets, for owners and admins. `by_chain` reads the chain, of several providers at least two that agree (else 503 `chain_unavailable`): rows that it shows as paid are paid, rows that it shows as not paid can be retried, and a withdrawal's account gets them back. Only where it does not tell, `paid` or `not_paid` states it for the whole batch, with a reason and an approval (409 `approval_required`). Recorded with the name of the person; the event `payout.doubt_decided` names the rows. Sends nothing.",
  tag: "Payouts",
  auth: "user",
  permission: "policies:manage",
  params: z.object({ id: id("po").meta({ description: "Id in the path" }) }),
  body: z.discriminatedUnion("decision", [
    z
      .object({
        batch,
        decision: z.literal("by_chain").meta({ description: "As the chain shows" }),
      })
      .meta({ id: "DoubtByChain" }),
    z
      .object({
        batch,
        decision: z.literal("paid").meta({ description: "All rows of the batch were paid" }),
        reason,
        approval: givenApproval.optional(),
      })
      .meta({ id: "DoubtPaid" }),
    z
      .object({
        batch,
        decision: z.literal("not_paid").meta({ description: "No row of the batch was paid" }),
        reason,
        approval: givenApproval.optional(),
      })
      .meta({ id: "DoubtNotPaid" }),
  ]),
  status: 200,
  response: payoutRecord,
  errors: [...APPROVAL_ERRORS, "forbidden", "not_found", "signing_off"],
});

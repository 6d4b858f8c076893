import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { sponsorBudget } from "./auth";
import { chainId } from "./common";
import { defineContract } from "./contract";

/**
 * A limit in whole coins of the chain. With 0 the sponsor pays for nothing. Null removes the limit.
 */
const coins = z
  .string()
  .regex(
    /^(0|[1-9]\d{0,17})(\.\d{1,18})?$/,
    "must be an amount of the chain's coin such as 0.5",
  )
  .nullable();

export const updateSponsorBudget = defineContract({
  method: "PATCH",
  path: "/sponsor-budgets",
  summary:
    "Sets what the sponsor pays for this project on one chain; a higher limit needs an approval (409 approval_required)",
  description:
    "Sets the project's own limits, up to the ceilings of the installation's operator. A lower limit counts at once. A higher one answers 409 `approval_required` first; send it again with `approval`. What is reserved already stays reserved. Read the budgets with GET /me.",
  tag: "Profile",
  auth: "user",
  permission: "policies:manage",
  body: z
    .object({
      chainId,
      dailyLimit: coins.optional().meta({
        description:
          "The most per UTC day, in units of the chain's coin; null: as much as the ceiling",
      }),
      perOperation: coins.optional().meta({
        description:
          "The most for one operation, in units of the chain's coin; null: as much as the ceiling",
      }),
      approval: givenApproval.optional(),
    })
    .refine(
      ({ dailyLimit, perOperation }) => dailyLimit !== undefined || perOperation !== undefined,
      {
        message: "give dailyLimit, perOperation or both",
        path: ["dailyLimit"],
      },
    ),
  status: 200,
  response: sponsorBudget,
  errors: [...APPROVAL_ERRORS, "forbidden", "unsupported_chain"],
});

import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { usdAmount } from "./common";
import { defineContract } from "./contract";

const tag = "Policies";

const policies = z
  .object({
    dailyCapUsd: z.string().meta({
      description:
        "US dollars per UTC day that all exempt API keys of the project together move without a one-time code",
    }),
    spentTodayUsd: z.string().meta({ description: "How much of it was moved on the current UTC day" }),
  })
  .meta({ id: "Policies" });

export const getPolicies = defineContract({
  method: "GET",
  path: "/policies",
  summary: "What bounds the project's API keys",
  description: "The project's daily cap for exempt API keys, and how much of it was used on this UTC day.",
  tag,
  auth: "member",
  status: 200,
  response: policies,
});

export const updatePolicies = defineContract({
  method: "PATCH",
  path: "/policies",
  summary: "Changes the project's daily cap; raising it needs an approval (409 approval_required), lowering does not",
  description:
    "A lower cap takes effect at once. A higher one answers 409 `approval_required` first; send it again with `approval`.",
  tag,
  auth: "user",
  body: z.object({ dailyCapUsd: usdAmount, approval: givenApproval.optional() }),
  status: 200,
  response: policies,
  errors: APPROVAL_ERRORS,
});

import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { usdAmount } from "./common";
import { approvalRequirement } from "./decisions";
import { defineContract } from "./contract";

const tag = "Policies";

const policies = z
  .object({
    dailyCapUsd: z.string().meta({
      description:
        "US dollars per UTC day that all exempt API keys of the project together move without a one-time code",
    }),
    spentTodayUsd: z.string().meta({ description: "How much of it was moved on the current UTC day" }),
    approvals: approvalRequirement.nullable().meta({
      description: "Who must approve what awaits approval; null: the one-time code of one person approves",
    }),
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
  summary:
    "Changes the project's daily cap, or who must approve payments; what allows more needs an approval (409 approval_required)",
  description:
    "A lower cap, and more approvals, take effect at once. A higher cap, and fewer approvals or more people who may give them, answer 409 `approval_required` first; send it again with `approval`.",
  tag,
  auth: "user",
  body: z
    .object({
      dailyCapUsd: usdAmount.optional(),
      approvals: approvalRequirement.nullable().optional().meta({
        description: "Who must approve what awaits approval; null: the one-time code of one person approves",
      }),
      approval: givenApproval.optional(),
    })
    .refine(({ dailyCapUsd, approvals }) => (dailyCapUsd === undefined) !== (approvals === undefined), {
      message: "give either dailyCapUsd or approvals",
      path: ["dailyCapUsd"],
    }),
  status: 200,
  response: policies,
  errors: APPROVAL_ERRORS,
});

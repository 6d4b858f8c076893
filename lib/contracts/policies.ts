import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { address, amount, chainId, id, timestamp, tokenRef, usdAmount } from "./common";
import { approvalRequirement } from "./approval-requirement";
import { votingSetting } from "./decisions";
import { defineContract } from "./contract";
import { POLICY_SCOPES, policyRules, RULE_NAMES } from "./policy-rules";

const tag = "Policies";
/** The largest version number that the column, an INTEGER of PostgreSQL, can store. */
const VERSION_MAX = 2_147_483_647;

const scope = z.enum(POLICY_SCOPES).meta({
  description:
    "What it bounds: the whole project, one wallet, or one API key. The strictest rule wins",
});
const subjectId = z.string().max(80).meta({
  description:
    "Id of the wallet (wal_) or API key (key_); the project's own id for the project",
});

const policyRecord = z
  .object({
    id: id("pol").meta({ description: "Id of this version" }),
    scope,
    subjectId,
    version: z.int().meta({ description: "1, 2, 3 …; only the newest applies" }),
    rules: policyRules,
    createdBy: z.string().meta({ description: "The person who made this version" }),
    createdAt: timestamp.meta({ description: "When it was made" }),
  })
  .meta({ id: "Policy" });

const policies = z
  .object({
    dailyCapUsd: z.string().meta({
      description:
        "US dollars per UTC day that all exempt API keys of the project together move without a one-time code",
    }),
    spentTodayUsd: z
      .string()
      .meta({ description: "How much of it was moved on the current UTC day" }),
    approvals: votingSetting.nullable().meta({
      description:
        "Who must approve what leaves managed wallets and accounts; null: nobody else",
    }),
    policies: z
      .array(policyRecord)
      .meta({ description: "The newest version of every policy of the project" }),
  })
  .meta({ id: "Policies" });

export const getPolicies = defineContract({
  method: "GET",
  path: "/policies",
  summary: "What bounds the project's money",
  description:
    "The newest version of every policy; the project's daily cap for exempt API keys, and how much of it was used on this UTC day.",
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
    "A lower cap, and more approvals, take effect at once. A higher cap, and fewer approvals or more people who may give them, answer 409 `approval_required` first; send it again with `approval`. Only an owner sets `approvals.exemptKeys`. More votes than people could give are 400: count those who may vote, one for each mailbox, and one less where makers are excluded.",
  tag,
  auth: "user",
  permission: "policies:manage",
  body: z
    .object({
      dailyCapUsd: usdAmount.optional(),
      approvals: votingSetting.nullable().optional().meta({
        description:
          "Who must approve what leaves managed wallets and accounts; null: nobody else",
      }),
      approval: givenApproval.optional(),
    })
    .refine(
      ({ dailyCapUsd, approvals }) => (dailyCapUsd === undefined) !== (approvals === undefined),
      {
        message: "give either dailyCapUsd or approvals",
        path: ["dailyCapUsd"],
      },
    ),
  status: 200,
  response: policies,
  errors: APPROVAL_ERRORS,
});

export const putPolicy = defineContract({
  method: "PUT",
  path: "/policies",
  summary: "Stores the next version of a policy; needs an approval (409 approval_required)",
  description:
    "The rules replace those of the version before, which is kept. They apply at once to everything that is not accepted yet. Only an owner sets `approvals.exemptKeys`; more votes than people could give are 400. Answers 409 `approval_required` first; send it again with `approval`.",
  tag,
  auth: "user",
  permission: "policies:manage",
  body: z.object({
    scope,
    subjectId: subjectId.optional(),
    baseVersion: z.int().min(0).meta({
      description:
        "The version that the change starts from, 0 for none: a change in between is refused",
    }),
    rules: policyRules,
    approval: givenApproval.optional(),
  }),
  status: 200,
  response: policyRecord,
  errors: [
    ...APPROVAL_ERRORS,
    "forbidden",
    "not_found",
    "unsupported_chain",
    "unsupported_token",
  ],
});

export const listPolicyVersions = defineContract({
  method: "GET",
  path: "/policies/versions",
  summary: "The history of a policy, newest first",
  description:
    "Up to 100 versions of one policy, newest first; older ones with `before`. Versions are never changed.",
  tag,
  auth: "member",
  query: z.object({
    scope,
    subjectId: subjectId.optional(),
    before: z.coerce
      .number()
      .int()
      .min(1)
      .max(VERSION_MAX)
      .optional()
      .meta({ description: "Only versions below this number" }),
  }),
  status: 200,
  response: z.object({
    data: z.array(policyRecord).meta({ description: "Versions, newest first" }),
  }),
});

const decision = z.enum(["allow", "needs_approval", "deny"]);
const codeNeed = z
  .enum(["required", "not"])
  .meta({ description: "Whether the policies ask for a one-time code" });

const ruleResult = z
  .object({
    policyId: id("pol").nullable().meta({
      description:
        "The version of the policy; of a draft, an id that is not stored. null: no policy sets the rule `screening`, and its default applies",
    }),
    version: z.int().meta({ description: "Its number; 0 without a policy" }),
    scope,
    rule: z.enum(RULE_NAMES).meta({ description: "The rule" }),
    outcome: decision.meta({ description: "What the rule says" }),
    message: z.string().meta({ description: "Why, in words" }),
    field: z.string().meta({ description: "The field of the request that it is about" }),
  })
  .meta({ id: "PolicyRuleResult" });

export const getPolicyEvaluation = defineContract({
  method: "GET",
  path: "/policies/evaluations/{id}",
  summary: "What the policies said of one movement when it was accepted or refused",
  description:
    "Operations and payouts name their evaluation in `evaluationId`, and a `policy_violation` or `screening_refused` names the one that refused it. An evaluation is never changed.",
  tag,
  auth: "member",
  scope: "operations:read",
  params: z.object({ id: id("evl").meta({ description: "Id of the evaluation" }) }),
  status: 200,
  response: z
    .object({
      id: id("evl").meta({ description: "Id of the evaluation" }),
      subject: z
        .object({
          type: z.string().meta({ description: "`operation` or `payout`" }),
          id: z.string().meta({ description: "Id of the object" }),
        })
        .nullable()
        .meta({
          description:
            "What it let run; null where it refused a request before anything was stored",
        }),
      decision: decision.meta({
        description: "The decision. `allow` also where people have approved it as a rule asked",
      }),
      code: codeNeed,
      rules: z.array(ruleResult).meta({ description: "What each rule said" }),
      createdBy: z
        .string()
        .meta({ description: "The person or API key that asked for the movement" }),
      createdAt: timestamp.meta({ description: "When it was decided" }),
    })
    .meta({ id: "StoredPolicyEvaluation" }),
  errors: ["not_found"],
});

export const evaluatePolicies = defineContract({
  method: "POST",
  path: "/policies/evaluate",
  summary: "Tries a movement against the policies, without moving money",
  description:
    "Says whether the policies would allow a movement now, whether it would need a one-time code or the approval of other people, and what each rule says. Addresses are screened as when it is accepted. Nothing is stored or counted, so every role may try it. What an API key itself asks for (`otp`, its list of recipients) comes on top. Not tried: balances, routes, and whether a token's issuer has frozen an address.",
  tag,
  auth: "member",
  readsOnly: true,
  body: z.object({
    fromWalletId: id("wal").meta({ description: "The wallet that the money would leave" }),
    fromChainId: chainId.meta({ description: "Its chain" }),
    toChainId: chainId
      .optional()
      .meta({ description: "The recipient's chain, where it is another one" }),
    token: tokenRef,
    amount,
    toAddress: address.meta({ description: "Who would be paid" }),
    keyId: id("key")
      .optional()
      .meta({ description: "The API key that would move it; default: the caller" }),
    draft: z
      .object({ scope, subjectId: subjectId.optional(), rules: policyRules })
      .optional()
      .meta({
        description:
          "Rules to try in place of the newest version of this policy; nothing of them is stored",
      }),
  }),
  status: 200,
  response: z
    .object({
      decision: decision.meta({ description: "The strictest outcome of all rules" }),
      code: codeNeed,
      rules: z
        .array(ruleResult)
        .meta({ description: "Each rule of each policy that bounds the movement" }),
      approval: approvalRequirement
        .nullable()
        .meta({ description: "Who would have to approve; null where nobody has to" }),
    })
    .meta({ id: "PolicyEvaluation" }),
  errors: [
    "unknown_wallet",
    "not_found",
    "unsupported_chain",
    "unsupported_token",
    "amount_precision",
  ],
});

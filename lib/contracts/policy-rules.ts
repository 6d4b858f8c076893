/** The schema of the rules in one version of a policy. */
import { z } from "zod";
import { amount, chainId, isTimeZone, tokenRef, usdAmount } from "./common";
import { approverRole } from "./approval-requirement";
import { EXEMPT_KEYS_MEANING } from "./decisions";

const ASSETS_MAX = 50;
const CHAINS_MAX = 100;
const WINDOWS_MAX = 14;
const COOL_DOWN_HOURS_MAX = 24 * 90;
const APPROVERS_MAX = 10;

const assetId = z
  .string()
  .min(1)
  .max(120)
  .meta({
    description: "Asset id, as GET /tokens shows it: the same on every chain",
    examples: ["usdc"],
  });

const assetCap = z.strictObject({
  assetId,
  amount: amount.meta({ description: "The most of it, in units of the asset" }),
});

const caps = z
  .strictObject({
    usd: usdAmount.optional().meta({
      description: "The most in US dollars. An amount without a known price is above it",
    }),
    assets: z
      .array(assetCap)
      .max(ASSETS_MAX)
      .optional()
      .meta({ description: "The most of single assets" }),
  })
  .meta({ id: "PolicyCaps", description: "The most that may be moved" });

const time = z
  .string()
  .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'must be a time like "09:00"')
  .meta({ description: "Time of day, 00:00 to 24:00" });

const timeWindow = z
  .strictObject({
    days: z
      .array(z.int().min(1).max(7))
      .min(1)
      .max(7)
      .meta({ description: "Weekdays in the time zone: 1 is Monday, 7 is Sunday" }),
    from: time,
    to: time,
  })
  .refine(({ from, to }) => from < to, { message: "must be after `from`", path: ["to"] });

const hours = z.strictObject({
  timeZone: z
    .string()
    .max(60)
    .refine(isTimeZone, "must be a time zone such as Europe/Berlin or UTC")
    .meta({ description: "IANA time zone in which days and times count" }),
  windows: z
    .array(timeWindow)
    .min(1)
    .max(WINDOWS_MAX)
    .meta({ description: "Money may move in any of these" }),
});

const code = z
  .discriminatedUnion("mode", [
    z
      .strictObject({
        mode: z.literal("always").meta({ description: "When a code is needed" }),
      })
      .meta({ id: "CodeAlways" }),
    z
      .strictObject({
        mode: z.literal("above").meta({ description: "When a code is needed" }),
        usd: usdAmount.meta({ description: "Above this many US dollars a code is needed" }),
      })
      .meta({ id: "CodeAbove" }),
    z
      .strictObject({
        mode: z.literal("exempt").meta({ description: "When a code is needed" }),
        dailyCapUsd: usdAmount.meta({
          description:
            "US dollars per UTC day that move without a code; above it one is needed",
        }),
      })
      .meta({ id: "CodeExempt" }),
  ])
  .meta({
    description: "When a one-time code is needed, beside what the API key itself asks for",
  });

const approvals = z.strictObject({
  aboveUsd: usdAmount.meta({
    description: "Above this many US dollars, other people have to approve",
  }),
  count: z
    .int()
    .min(1)
    .max(APPROVERS_MAX)
    .meta({ description: "How many people have to approve" }),
  roles: z
    .array(approverRole)
    .min(1)
    .max(approverRole.options.length)
    .meta({ description: "Roles of which an approver has one" }),
  excludeMaker: z
    .boolean()
    .meta({ description: "Whether the person who asked for the movement may not approve it" }),
  exemptKeys: z.boolean().optional().meta({ description: EXEMPT_KEYS_MEANING }),
});

/** An absent rule has no effect. */
export const policyRules = z
  .strictObject({
    perOperation: caps.optional().meta({ description: "The most that one operation may move" }),
    perDay: caps.optional().meta({ description: "The most that may be moved on one UTC day" }),
    recipients: z.enum(["any", "approved_contacts"]).optional().meta({
      description:
        "`approved_contacts`: only approved contacts and managed wallets of the project may be paid",
    }),
    newRecipientHours: z.int().min(1).max(COOL_DOWN_HOURS_MAX).optional().meta({
      description:
        "Hours for which a new recipient may not be paid, from when its contact was approved or it was first paid",
    }),
    chains: z
      .array(chainId)
      .min(1)
      .max(CHAINS_MAX)
      .optional()
      .meta({ description: "The only chains that may be used" }),
    tokens: z
      .array(z.strictObject({ chainId, token: tokenRef }))
      .min(1)
      .max(ASSETS_MAX * 4)
      .optional()
      .meta({ description: "The only tokens that may leave a wallet; stored by address" }),
    hours: hours.optional().meta({ description: "When money may move" }),
    code: code.optional(),
    approvals: approvals.optional().meta({ description: "When other people have to approve" }),
    screening: z.enum(["off", "block_hits", "require_clear"]).optional().meta({
      description:
        "How addresses are screened. `block_hits` (default): an address that a source lists stops the movement. `require_clear`: only an address that a source covers and does not list may be paid, and money from outside may be moved only once its sender is clear. A policy of a wallet or key can only be stricter than the project's",
    }),
  })
  .meta({
    id: "PolicyRules",
    description: "What a policy bounds; a rule that is left out bounds nothing",
  });

export type PolicyRules = z.output<typeof policyRules>;

export const POLICY_SCOPES = ["project", "wallet", "key"] as const;
export type PolicyScope = (typeof POLICY_SCOPES)[number];

export const RULE_NAMES = [
  "perOperation.usd",
  "perOperation.assets",
  "perDay.usd",
  "perDay.assets",
  "recipients",
  "newRecipientHours",
  "screening",
  "chains",
  "tokens",
  "hours",
  "code",
  "approvals",
] as const;
export type RuleName = (typeof RULE_NAMES)[number];

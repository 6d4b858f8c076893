import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { plainNetwork } from "@/lib/core/network";
import { address, id, longPageQuery, page, timestamp, usdAmount } from "./common";
import { defineContract, SCOPES } from "./contract";
import { displayName } from "./names";
import { recipientWarnings } from "./warnings";

const tag = "API keys";

/**
 * A network in CIDR notation. A single address gets the full prefix length: `203.0.113.7` becomes
 * `203.0.113.7/32`.
 */
const network = z
  .string()
  .max(60)
  .transform((text, context) => {
    const plain = plainNetwork(text);
    if (plain !== null) return plain;
    context.addIssue({
      code: "custom",
      message: "is not a network such as 203.0.113.0/24 or 2001:db8::/32",
    });
    return z.NEVER;
  });
const NETWORKS_MAX = 50;
const NETWORKS =
  "The only networks that the key may be used from, in CIDR notation, 50 at most; empty for any. Elsewhere it answers 403";

export const apiKeyRecord = z
  .object({
    id: id("key"),
    name: z.string().meta({ description: "Name that was given to the key" }),
    prefix: z
      .string()
      .meta({ description: "First characters of the secret; they tell keys apart" }),
    last4: z.string().meta({ description: "Last four characters of the secret" }),
    scopes: z.array(z.enum(SCOPES)).meta({ description: "What the key may do" }),
    otp: z
      .enum(["required", "exempt"])
      .meta({ description: "Whether what the key moves needs a one-time code" }),
    dailyCapUsd: z.string().nullable().meta({
      description: "US dollars per UTC day that an exempt key moves without a one-time code",
    }),
    recipients: z
      .array(address)
      .meta({ description: "The only addresses that the key may send to; empty for any" }),
    networks: z.array(z.string()).meta({
      description:
        "The only networks that the key may be used from, in CIDR notation; empty for any",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    expiresAt: timestamp
      .nullable()
      .meta({ description: "When the key stops working; null: never by itself" }),
    lastUsedAt: timestamp
      .nullable()
      .meta({ description: "When a request last used it; null: never" }),
    lastUsedAddress: z.string().nullable().meta({
      description:
        "IP address of the caller that last used it, within a minute; null where it is not known",
    }),
    revokedAt: timestamp
      .nullable()
      .meta({ description: "When it was revoked; null: it was not" }),
    suspendedAt: timestamp.nullable().meta({
      description:
        "Since when it is refused, because it was made without a proof and the session that made it was ended; null: it is not. POST /me/sessions/made/restore lets it work again",
    }),
    previous: z
      .object({
        last4: z
          .string()
          .meta({ description: "Last four characters of the secret before the last rotation" }),
        until: timestamp.meta({ description: "When that secret stops working" }),
      })
      .nullable()
      .meta({
        description:
          "The secret before the last rotation; null for a key that was never rotated",
      }),
    createdBy: z.string().meta({
      description:
        "Who created it: a person (usr_), an API key (key_) or a part of the service",
    }),
  })
  .meta({ id: "ApiKey" });

const keyWithSecret = apiKeyRecord.extend({
  secret: z.string().meta({
    description: "The key itself, for the header x-api-key; in this answer and never again",
  }),
});

export const createApiKey = defineContract({
  method: "POST",
  path: "/auth/api-keys",
  summary:
    "Makes an API key; its secret is in this answer and never again. A key that is exempt from codes needs an approval (409 approval_required)",
  description:
    'Creates a key for programs. It moves no money. With `otp: "exempt"`, recipients or a cap that widen what a caller may move, the first answer is 409 `approval_required`: approve it and send the same request with `approval`. Store the secret: no later answer shows it.',
  tag,
  auth: "user",
  permission: "keys:manage",
  body: z
    .object({
      name: displayName(80).meta({ description: "Name for people, 1–80 characters" }),
      scopes: z
        .array(z.enum(SCOPES))
        .min(1)
        .optional()
        .meta({ description: "What the key may do. Default: everything but managing keys" }),
      expiresAt: timestamp
        .optional()
        .meta({ description: "When the key stops working. Default: never by itself" }),
      otp: z.enum(["required", "exempt"]).default("required").meta({
        description:
          "`required`: a one-time code approves each move. `exempt`: moves within `dailyCapUsd` need none",
      }),
      dailyCapUsd: usdAmount.optional().meta({
        description:
          "US dollars; goes with `exempt`, and only with it. At most the project's own (GET /policies)",
      }),
      recipients: z.array(address).max(100).default([]).meta({
        description: "The only addresses that the key may send to, 100 at most; empty for any",
      }),
      networks: z.array(network).max(NETWORKS_MAX).default([]).meta({ description: NETWORKS }),
      approval: givenApproval.optional(),
    })
    .refine((key) => (key.otp === "exempt") === (key.dailyCapUsd !== undefined), {
      message: "an exempt key needs a daily cap, and only an exempt key has one",
      path: ["dailyCapUsd"],
    }),
  status: 201,
  response: keyWithSecret.extend({ warnings: recipientWarnings }),
  errors: APPROVAL_ERRORS,
});

export const updateApiKey = defineContract({
  method: "PATCH",
  path: "/auth/api-keys/{id}",
  summary:
    "Changes an API key on every instance within one second. What widens its authority needs an approval (409 approval_required); what narrows it does not",
  description:
    "Changes only the fields that are sent. A change that lets the key move more (exempt, a higher cap, more recipients) answers 409 `approval_required` first; send it again with `approval`. A change that narrows the key takes effect at once.",
  tag,
  auth: "user",
  permission: "keys:manage",
  params: z.object({ id: id("key").meta({ description: "The key to change" }) }),
  body: z
    .object({
      name: displayName(80).optional().meta({ description: "New name, 1–80 characters" }),
      scopes: z
        .array(z.enum(SCOPES))
        .min(1)
        .optional()
        .meta({ description: "New scopes; they replace the present ones" }),
      expiresAt: timestamp
        .nullable()
        .optional()
        .meta({ description: "null takes the expiry away" }),
      otp: z
        .enum(["required", "exempt"])
        .optional()
        .meta({ description: "Whether moves of the key need a one-time code" }),
      dailyCapUsd: usdAmount.optional().meta({
        description: "US dollars per UTC day that an exempt key moves without a one-time code",
      }),
      recipients: z.array(address).max(100).optional().meta({ description: "Empty for any" }),
      networks: z.array(network).max(NETWORKS_MAX).optional().meta({ description: NETWORKS }),
      approval: givenApproval.optional(),
    })
    .refine((change) => Object.keys(change).some((field) => field !== "approval"), {
      message: "name at least one field to change",
      path: ["name"],
    }),
  status: 200,
  response: apiKeyRecord.extend({ warnings: recipientWarnings }),
  errors: ["not_found", ...APPROVAL_ERRORS],
});

const OVERLAP_SECONDS_MAX = 7 * 24 * 60 * 60;

export const rotateApiKey = defineContract({
  method: "POST",
  path: "/auth/api-keys/{id}/rotate",
  summary:
    "Makes a new secret for an API key; the present one still works for a while. Needs an approval (409 approval_required)",
  description:
    "The key keeps its id, its rights, its limits and what it has spent of them. The answer has the new secret, and no later one shows it. Until `overlapSeconds` have passed both secrets work; a secret from before an earlier rotation stops at once. Use 0 when the secret has leaked. The first answer is 409 `approval_required`, and the owners get a mail. Who rotated a key has no vote on what it asks for where makers have none; a rotation after which too few people could vote is 409 `invalid_state`.",
  tag,
  auth: "user",
  permission: "keys:manage",
  params: z.object({ id: id("key").meta({ description: "The key to rotate" }) }),
  body: z.object({
    overlapSeconds: z.number().int().min(0).max(OVERLAP_SECONDS_MAX).default(86_400).meta({
      description: "For how long the present secret goes on working; at most seven days",
    }),
    approval: givenApproval.optional(),
  }),
  status: 200,
  response: keyWithSecret,
  errors: ["not_found", ...APPROVAL_ERRORS],
});

export const listApiKeys = defineContract({
  method: "GET",
  path: "/auth/api-keys",
  summary: "API keys of the project, newest first, revoked ones included",
  description:
    "Shows names, scopes, policies and times of the keys, without their secrets, up to 1,000 on a page. Changes nothing.",
  tag,
  auth: "user",
  query: longPageQuery("API keys"),
  status: 200,
  response: page(apiKeyRecord),
});

export const revokeApiKey = defineContract({
  method: "DELETE",
  path: "/auth/api-keys/{id}",
  summary: "Revokes an API key on every instance within one second",
  description:
    "The key stops working on every instance within one second. Operations that it started go on. Revoking again answers the same. A revoked key cannot be used again: create a new one.",
  tag,
  auth: "user",
  permission: "keys:manage",
  params: z.object({ id: id("key").meta({ description: "The key to revoke" }) }),
  status: 200,
  response: z.object({
    id: id("key").meta({ description: "The revoked key" }),
    revokedAt: timestamp.meta({ description: "When it was revoked" }),
  }),
  errors: ["not_found"],
});

import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { address, id, timestamp, usdAmount } from "./common";
import { defineContract, SCOPES } from "./contract";

const tag = "API keys";

export const apiKeyRecord = z
  .object({
    id: id("key"),
    name: z.string(),
    prefix: z.string(),
    last4: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    otp: z.enum(["required", "exempt"]).meta({ description: "Whether what the key moves needs a one-time code" }),
    dailyCapUsd: z
      .string()
      .nullable()
      .meta({ description: "US dollars per UTC day that an exempt key moves without a one-time code" }),
    recipients: z.array(address).meta({ description: "The only addresses that the key may send to; empty for any" }),
    createdAt: timestamp,
    expiresAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable(),
    revokedAt: timestamp.nullable(),
    createdBy: z.string(),
  })
  .meta({ id: "ApiKey" });

export const createApiKey = defineContract({
  method: "POST",
  path: "/auth/api-keys",
  summary:
    "Makes an API key; its secret is in this answer and never again. A key that is exempt from codes needs an approval (409 approval_required)",
  tag,
  auth: "user",
  body: z
    .object({
      name: z.string().trim().min(1).max(80),
      scopes: z.array(z.enum(SCOPES)).min(1).optional(),
      expiresAt: timestamp.optional(),
      otp: z.enum(["required", "exempt"]).default("required"),
      dailyCapUsd: usdAmount.optional().meta({
        description: "US dollars; goes with `exempt`, and only with it. At most the project's own (GET /policies)",
      }),
      recipients: z.array(address).max(100).default([]),
      approval: givenApproval.optional(),
    })
    .refine((key) => (key.otp === "exempt") === (key.dailyCapUsd !== undefined), {
      message: "an exempt key needs a daily cap, and only an exempt key has one",
      path: ["dailyCapUsd"],
    }),
  status: 201,
  response: apiKeyRecord.extend({ secret: z.string() }),
  errors: APPROVAL_ERRORS,
});

export const updateApiKey = defineContract({
  method: "PATCH",
  path: "/auth/api-keys/{id}",
  summary:
    "Changes an API key on every instance within one second. What widens its authority needs an approval (409 approval_required); what narrows it does not",
  tag,
  auth: "user",
  params: z.object({ id: id("key") }),
  body: z
    .object({
      name: z.string().trim().min(1).max(80).optional(),
      scopes: z.array(z.enum(SCOPES)).min(1).optional(),
      expiresAt: timestamp.nullable().optional().meta({ description: "null takes the expiry away" }),
      otp: z.enum(["required", "exempt"]).optional(),
      dailyCapUsd: usdAmount.optional(),
      recipients: z.array(address).max(100).optional().meta({ description: "Empty for any" }),
      approval: givenApproval.optional(),
    })
    .refine((change) => Object.keys(change).some((field) => field !== "approval"), {
      message: "name at least one field to change",
      path: ["name"],
    }),
  status: 200,
  response: apiKeyRecord,
  errors: ["not_found", ...APPROVAL_ERRORS],
});

export const listApiKeys = defineContract({
  method: "GET",
  path: "/auth/api-keys",
  summary: "API keys of the project, newest first, revoked ones included",
  tag,
  auth: "user",
  status: 200,
  response: z.object({ data: z.array(apiKeyRecord) }),
});

export const revokeApiKey = defineContract({
  method: "DELETE",
  path: "/auth/api-keys/{id}",
  summary: "Revokes an API key on every instance within one second",
  tag,
  auth: "user",
  params: z.object({ id: id("key") }),
  status: 200,
  response: z.object({ id: id("key"), revokedAt: timestamp }),
  errors: ["not_found"],
});

import { z } from "zod";
import { id, timestamp } from "./common";
import { defineContract, SCOPES } from "./contract";

const tag = "API keys";

export const apiKeyRecord = z.object({
  id: id("key"),
  name: z.string(),
  prefix: z.string(),
  last4: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
  revokedAt: timestamp.nullable(),
  createdBy: z.string(),
});

export const createApiKey = defineContract({
  method: "POST",
  path: "/auth/api-keys",
  summary: "Makes an API key; its secret is in this answer and never again",
  tag,
  auth: "user",
  body: z.object({
    name: z.string().trim().min(1).max(80),
    scopes: z.array(z.enum(SCOPES)).min(1).optional(),
    expiresAt: timestamp.optional(),
  }),
  status: 201,
  response: apiKeyRecord.extend({ secret: z.string() }),
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

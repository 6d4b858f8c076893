import { z } from "zod";
import { id, timestamp } from "./common";
import { defineContract } from "./contract";
import { EVENT_GROUPS, EVENT_TYPES } from "./events";
import { deliveryRecord } from "./webhook-deliveries";

const tag = "Webhooks";

const NAMES: readonly string[] = ["*", ...Object.keys(EVENT_GROUPS).map((group) => `${group}.*`), ...EVENT_TYPES];

const url = z
  .string()
  .min(1)
  .max(2000)
  .meta({ examples: ["https://example.org/webhooks"] });

const events = z
  .array(
    z.string().refine((name) => NAMES.includes(name), "is not a type of event; `*` and `operation.*` are possible"),
  )
  .min(1)
  .max(100)
  .meta({ description: "`*` for all, a group such as `operation.*`, or types", examples: [["*"]] });

const description = z.string().trim().max(200);

const payload = z.enum(["full", "thin"]).meta({ description: "`thin` leaves `data` out: read the object again" });

const includePrivate = z.boolean().meta({
  description: "Details of private movements; needs privacy:read. Without it they carry id, type and sequence",
});

export const webhookEndpointRecord = z
  .object({
    id: id("we"),
    url: z.string(),
    events: z.array(z.string()),
    payload: z.enum(["full", "thin"]),
    includePrivate: z.boolean(),
    description: z.string().nullable(),
    status: z.enum(["active", "paused", "disabled"]),
    disabledReason: z
      .enum(["gone", "failing"])
      .nullable()
      .meta({ description: "gone: it answered 410. failing: every attempt of five days failed" }),
    failingSince: timestamp.nullable(),
    pending: z.int().meta({ description: "Deliveries that wait or are tried again; counted up to 1,000" }),
    secrets: z
      .array(z.object({ id: z.string(), createdAt: timestamp, expiresAt: timestamp.nullable() }))
      .meta({ description: "Those that sign now, without their values" }),
    createdBy: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "WebhookEndpoint" });

const withSecret = webhookEndpointRecord
  .extend({
    secret: z.string().meta({ description: "`whsec_…`, in this answer and never again" }),
  })
  .meta({ id: "WebhookEndpointWithSecret" });

const params = z.object({ id: id("we") });

export const createWebhookEndpoint = defineContract({
  method: "POST",
  path: "/webhook-endpoints",
  summary: "Makes an endpoint that the project's events are sent to; its secret is in this answer and never again",
  tag,
  auth: "member",
  scope: "webhooks:write",
  body: z.object({
    url,
    events,
    description: description.optional(),
    payload: payload.default("full"),
    includePrivate: includePrivate.default(false),
  }),
  status: 201,
  response: withSecret,
  errors: ["invalid_state"],
});

export const listWebhookEndpoints = defineContract({
  method: "GET",
  path: "/webhook-endpoints",
  summary: "The project's endpoints, oldest first",
  tag,
  auth: "member",
  scope: "webhooks:read",
  status: 200,
  response: z.object({ data: z.array(webhookEndpointRecord) }),
});

export const getWebhookEndpoint = defineContract({
  method: "GET",
  path: "/webhook-endpoints/{id}",
  summary: "One endpoint",
  tag,
  auth: "member",
  scope: "webhooks:read",
  params,
  status: 200,
  response: webhookEndpointRecord,
});

export const updateWebhookEndpoint = defineContract({
  method: "PATCH",
  path: "/webhook-endpoints/{id}",
  summary: "Changes an endpoint. `paused` keeps what comes and sends it later; `active` sends again",
  tag,
  auth: "member",
  scope: "webhooks:write",
  params,
  body: z
    .object({
      url: url.optional(),
      events: events.optional(),
      description: description.nullable().optional(),
      payload: payload.optional(),
      includePrivate: includePrivate.optional(),
      status: z.enum(["active", "paused"]).optional(),
    })
    .refine((change) => Object.keys(change).length > 0, {
      message: "name at least one field to change",
      path: ["url"],
    }),
  status: 200,
  response: webhookEndpointRecord,
  errors: ["invalid_state"],
});

export const deleteWebhookEndpoint = defineContract({
  method: "DELETE",
  path: "/webhook-endpoints/{id}",
  summary: "Removes an endpoint; what waits for it is not sent",
  tag,
  auth: "member",
  scope: "webhooks:write",
  params,
  status: 200,
  response: z.object({ id: id("we") }),
});

export const rotateWebhookSecret = defineContract({
  method: "POST",
  path: "/webhook-endpoints/{id}/rotate",
  summary: "Makes a new secret; the one before signs beside it for the overlap",
  tag,
  auth: "member",
  scope: "webhooks:write",
  params,
  body: z.object({ overlapHours: z.int().min(0).max(168).default(24) }),
  status: 200,
  response: withSecret,
});

export const testWebhookEndpoint = defineContract({
  method: "POST",
  path: "/webhook-endpoints/{id}/test",
  summary: "Sends a `webhook.test` event to the endpoint, whatever events it gets",
  tag,
  auth: "member",
  scope: "webhooks:write",
  params,
  status: 202,
  response: deliveryRecord,
  errors: ["invalid_state"],
});

export const replayWebhookEvents = defineContract({
  method: "POST",
  path: "/webhook-endpoints/{id}/replay",
  summary: "Sends the events of a range of sequence numbers again, under the same ids (10,000 numbers at most)",
  tag,
  auth: "member",
  scope: "webhooks:write",
  params,
  body: z
    .object({ from: z.int().positive(), to: z.int().positive() })
    .refine(({ from, to }) => from <= to, { message: "must not be below `from`", path: ["to"] }),
  status: 202,
  response: z.object({ queued: z.int() }),
  errors: ["invalid_state"],
});

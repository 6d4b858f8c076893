/** What was sent to endpoints, and sending it again. */
import { z } from "zod";
import { id, page, pageQuery, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Webhooks";

const params = z.object({ id: id("we") });

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

const deliveryParams = z.object({ id: id("dlv") });

const deliveryRecord = z
  .object({
    id: id("dlv"),
    endpointId: id("we"),
    kind: z.enum(["event", "test", "replay", "resend"]),
    eventId: id("evt"),
    type: z.string(),
    sequence: z.int(),
    previousSequence: z.int().nullable(),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    nextAttemptAt: timestamp.nullable(),
    statusCode: z.int().nullable().meta({ description: "Of the last answer" }),
    error: z.string().nullable().meta({ description: "Why there was no answer" }),
    createdAt: timestamp,
    completedAt: timestamp.nullable(),
  })
  .meta({ id: "WebhookDelivery" });

const attemptRecord = z
  .object({
    number: z.int(),
    at: timestamp,
    durationMs: z.int(),
    request: z.object({ url: z.string(), headers: z.record(z.string(), z.string()), body: z.string() }),
    response: z
      .object({
        statusCode: z.int(),
        headers: z.record(z.string(), z.string()),
        body: z.string().meta({ description: "Its first 4,096 characters" }),
      })
      .nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: "WebhookAttempt" });

export const listDeliveries = defineContract({
  method: "GET",
  path: "/webhook-endpoints/{id}/deliveries",
  summary: "Deliveries to the endpoint, newest first. Kept for 30 days",
  tag,
  auth: "member",
  scope: "webhooks:read",
  params,
  query: pageQuery.extend({
    status: z.enum(DELIVERY_STATUSES).optional(),
    type: z.string().max(100).optional(),
  }),
  status: 200,
  response: page(deliveryRecord),
});

export const getDelivery = defineContract({
  method: "GET",
  path: "/deliveries/{id}",
  summary:
    "One delivery with each request and its answer. Without privacy:read, bodies of private movements show id, type and sequence alone",
  tag,
  auth: "member",
  scope: "webhooks:read",
  params: deliveryParams,
  status: 200,
  response: deliveryRecord.extend({ requests: z.array(attemptRecord) }),
});

export const resendDelivery = defineContract({
  method: "POST",
  path: "/deliveries/{id}/resend",
  summary: "Sends the event once more, under the same event id",
  tag,
  auth: "member",
  scope: "webhooks:write",
  params: deliveryParams,
  status: 202,
  response: deliveryRecord,
  errors: ["invalid_state"],
});

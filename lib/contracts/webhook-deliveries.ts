/** Deliveries to webhook endpoints: reading them, and sending an event again. */
import { z } from "zod";
import { id, page, pageQuery, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Webhooks";

const params = z.object({ id: id("we").meta({ description: "Id in the path" }) });

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

const deliveryParams = z.object({ id: id("dlv").meta({ description: "Id of the delivery" }) });

export const deliveryRecord = z
  .object({
    id: id("dlv").meta({ description: "Id of the delivery" }),
    endpointId: id("we").meta({ description: "Endpoint that it goes to" }),
    kind: z.enum(["event", "test", "replay", "resend"]).meta({ description: "Why it is sent" }),
    eventId: id("evt").meta({ description: "Id of the event; also the header `webhook-id`" }),
    type: z.string().meta({ description: "Type of the event" }),
    sequence: z.int().meta({ description: "Number of the event in the project" }),
    previousSequence: z.int().nullable().meta({
      description:
        "Number of the event that the endpoint was sent before; null where it gets every event, or was sent none",
    }),
    status: z
      .enum(DELIVERY_STATUSES)
      .meta({ description: "`failed`: no further attempt is made" }),
    attempts: z.int().meta({ description: "Attempts so far" }),
    nextAttemptAt: timestamp
      .nullable()
      .meta({ description: "When it is tried next; null: it is not" }),
    statusCode: z.int().nullable().meta({ description: "Of the last answer" }),
    error: z.string().nullable().meta({ description: "Why there was no answer" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    completedAt: timestamp
      .nullable()
      .meta({ description: "When it was delivered or given up; null: neither yet" }),
  })
  .meta({ id: "WebhookDelivery" });

const attemptRecord = z
  .object({
    number: z.int().meta({ description: "1 for the first attempt" }),
    at: timestamp.meta({ description: "When the attempt began" }),
    durationMs: z.int().meta({ description: "How long it took, in milliseconds" }),
    request: z
      .object({
        url: z.string().meta({ description: "Where it was sent to" }),
        headers: z
          .record(z.string(), z.string())
          .meta({ description: "Headers that were sent" }),
        body: z.string().meta({ description: "Body that was sent" }),
      })
      .meta({ description: "What was sent" }),
    response: z
      .object({
        statusCode: z.int().meta({ description: "Status of the answer" }),
        headers: z
          .record(z.string(), z.string())
          .meta({ description: "Headers of the answer" }),
        body: z.string().meta({ description: "Its first 4,096 characters" }),
      })
      .nullable()
      .meta({ description: "What the endpoint answered; null where it did not" }),
    error: z
      .string()
      .nullable()
      .meta({ description: "Why there was no answer; null where there was one" }),
  })
  .meta({ id: "WebhookAttempt" });

export const listDeliveries = defineContract({
  method: "GET",
  path: "/webhook-endpoints/{id}/deliveries",
  summary: "Deliveries to the endpoint, newest first. Kept for 30 days",
  description:
    "Filter by status or type, and read further pages with `cursor`. Deliveries are deleted after 30 days.",
  tag,
  auth: "member",
  scope: "webhooks:read",
  params,
  query: pageQuery.extend({
    status: z
      .enum(DELIVERY_STATUSES)
      .optional()
      .meta({ description: "Only deliveries with this status" }),
    type: z
      .string()
      .max(100)
      .optional()
      .meta({ description: "Only deliveries of this type of event" }),
  }),
  status: 200,
  response: page(deliveryRecord),
});

export const getDelivery = defineContract({
  method: "GET",
  path: "/deliveries/{id}",
  summary:
    "One delivery with each request and its answer. Without privacy:read, bodies of private movements show id, type and sequence alone",
  description:
    "Each attempt with the request that was sent and the answer that came. Use it to find out why a delivery failed.",
  tag,
  auth: "member",
  scope: "webhooks:read",
  params: deliveryParams,
  status: 200,
  response: deliveryRecord.extend({
    requests: z.array(attemptRecord).meta({ description: "Each attempt, in order" }),
  }),
});

export const resendDelivery = defineContract({
  method: "POST",
  path: "/deliveries/{id}/resend",
  summary: "Sends the event once more, under the same event id",
  description:
    "Queues a new delivery of the same event, with the same event id. The endpoint must be active.",
  tag,
  auth: "member",
  permission: "webhooks:manage",
  scope: "webhooks:write",
  params: deliveryParams,
  status: 202,
  response: deliveryRecord,
  errors: ["invalid_state"],
});

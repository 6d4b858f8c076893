import { z } from "zod";
import { id, timestamp } from "./common";
import { defineContract } from "./contract";

const MOVEMENT = [
  "created",
  "approved",
  "processing",
  "completed",
  "partially_completed",
  "failed",
  "refunded",
  "cancelled",
  "expired",
] as const;

/** No payout is refunded as a whole: it ends as its rows have ended. */
const PAYOUT = [
  "created",
  "approved",
  "processing",
  "completed",
  "partially_completed",
  "failed",
  "cancelled",
  "expired",
] as const;

/** Every type of event, by the object that it is about. */
export const EVENT_GROUPS = {
  operation: MOVEMENT.map((what) => `operation.${what}` as const),
  transfer: MOVEMENT.map((what) => `transfer.${what}` as const),
  payout: [...PAYOUT.map((what) => `payout.${what}` as const), "payout.item.failed"],
  payout_schedule: ["payout_schedule.run_missed", "payout_schedule.run_refused"],
  global_account: ["global_account.funded"],
  api_key: ["api_key.created", "api_key.updated", "api_key.revoked"],
} as const;

export type EventType = (typeof EVENT_GROUPS)[keyof typeof EVENT_GROUPS][number];

export const EVENT_TYPES: readonly EventType[] = Object.values(EVENT_GROUPS).flat();

/** A 64-bit number that counts up from 1; exact in JSON up to 2^53. */
const sequence = z.int().nonnegative();

export const eventRecord = z
  .object({
    id: id("evt"),
    type: z.string(),
    sequence: sequence.meta({ description: "1, 2, 3 … in the project, without a gap" }),
    createdAt: timestamp.optional(),
    objectId: z.string().optional(),
    objectSequence: sequence.optional().meta({ description: "1, 2, 3 … for the object, without a gap" }),
    data: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "Event" });

export const listEvents = defineContract({
  method: "GET",
  path: "/events",
  summary:
    "Every event of the project in order of its sequence number. Private movements show id, type and sequence alone without privacy:read",
  tag: "Webhooks",
  auth: "member",
  scope: "webhooks:read",
  query: z.object({
    after: z.coerce.number().int().nonnegative().default(0).meta({ description: "The last sequence number you know" }),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
  }),
  status: 200,
  response: z.object({
    data: z.array(eventRecord),
    lastSequence: sequence.meta({ description: "The project's newest sequence number" }),
  }),
});

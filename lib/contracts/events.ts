import { z } from "zod";
import { id, jsonObject, timestamp } from "./common";
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

/** Without `refunded`, because rows of a payout are refunded one by one, never the whole payout. */
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

export const EVENT_GROUPS = {
  operation: MOVEMENT.map((what) => `operation.${what}` as const),
  transfer: MOVEMENT.map((what) => `transfer.${what}` as const),
  payout: [
    ...PAYOUT.map((what) => `payout.${what}` as const),
    "payout.item.failed",
    "payout.doubt_decided",
  ],
  deposit: ["deposit.detected", "deposit.credited", "deposit.quarantined", "deposit.released"],
  payout_schedule: ["payout_schedule.run_missed", "payout_schedule.run_refused"],
  global_account: ["global_account.funded", "global_account.updated"],
  api_key: [
    "api_key.created",
    "api_key.updated",
    "api_key.revoked",
    "api_key.suspended",
    "api_key.restored",
  ],
  approval: [
    "approval.requested",
    "approval.approved",
    "approval.declined",
    "approval.expired",
  ],
  member: ["member.joined"],
  policy: ["policy.changed"],
} as const;

export type EventType = (typeof EVENT_GROUPS)[keyof typeof EVENT_GROUPS][number];

export const EVENT_TYPES: readonly EventType[] = Object.values(EVENT_GROUPS).flat();

/**
 * An event's sequence number, a 64-bit integer in the database. JSON readers parse it exactly up to
 * 2^53.
 */
const sequence = z.int().nonnegative();

export const eventRecord = z
  .object({
    id: id("evt").meta({ description: "The same for each delivery of the event" }),
    type: z.string().meta({ description: "Type of the event, such as `operation.completed`" }),
    sequence: sequence.meta({ description: "1, 2, 3 … in the project, without a gap" }),
    createdAt: timestamp.optional().meta({
      description:
        "When it happened, and never before the event with the number before; missing for private movements that the caller may not see",
    }),
    objectId: z.string().optional().meta({
      description:
        "The object that the event is about; missing for private movements that the caller may not see",
    }),
    objectSequence: sequence
      .optional()
      .meta({ description: "1, 2, 3 … for the object, without a gap" }),
    data: jsonObject.optional().meta({
      description:
        "The object's new state; missing for private movements that the caller may not see",
    }),
  })
  .meta({ id: "Event" });

export const listEvents = defineContract({
  method: "GET",
  path: "/events",
  summary:
    "Every event of the project in order of its sequence number. Private movements show id, type and sequence alone without privacy:read",
  description:
    "Reads what webhooks deliver, so that a receiver can fill gaps. Send the highest `sequence` that you have as `after`, then `nextAfter` of each answer, and repeat until `data` is empty. An API key reads the events of objects that its scopes let it read (docs/webhooks.md has the table); the others are left out, so its numbers have gaps.",
  tag: "Webhooks",
  auth: "member",
  scope: "webhooks:read",
  query: z.object({
    after: z.coerce
      .number()
      .int()
      .nonnegative()
      .default(0)
      .meta({ description: "The last sequence number you know" }),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(100)
      .meta({ description: "Events at most, 1–1,000" }),
  }),
  status: 200,
  response: z.object({
    data: z.array(eventRecord).meta({ description: "Events in order of `sequence`" }),
    nextAfter: sequence.meta({
      description:
        "Send it as `after` for the next page; it passes over events that the caller may not read",
    }),
    lastSequence: sequence.meta({ description: "The project's newest sequence number" }),
    archived: z
      .object({
        month: z
          .string()
          .meta({ description: "Month of the events, in UTC, such as `2026-01`" }),
        firstSequence: sequence.meta({ description: "Number of the first event in the file" }),
        lastSequence: sequence.meta({ description: "Number of the last event in the file" }),
        file: z.string().meta({
          description: "The file, below the folder of archives of whoever runs the service",
        }),
      })
      .nullable()
      .meta({
        description:
          "The next month after `after` that was archived: events of it may be missing in `data` and are in the file. Null: none is missing.",
      }),
  }),
});

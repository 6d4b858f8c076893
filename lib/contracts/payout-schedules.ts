import { z } from "zod";
import { amountOut, chainId, failureRecord, id, page, pageQuery, timestamp, tokenRecord, otp } from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";
import { walletsPayoutBody } from "./payouts";

const tag = "Payouts";

export const SCHEDULE_PERIODS = ["day", "week", "month"] as const;
export const SCHEDULE_STATUSES = ["awaiting_approval", "active", "ended", "cancelled"] as const;
export const SCHEDULE_RUN_STATUSES = ["started", "missed", "refused"] as const;

const scheduleRun = z
  .object({
    scheduledAt: timestamp,
    status: z.enum(SCHEDULE_RUN_STATUSES).meta({
      description:
        "`missed`: the service was not running in time, and it will never be paid by itself; `refused`: see failure",
    }),
    payoutId: id("po").nullable(),
    failure: failureRecord.nullable(),
  })
  .meta({ id: "PayoutScheduleRun" });

export const scheduleRecord = z
  .object({
    scheduleId: id("sch"),
    status: z.enum(SCHEDULE_STATUSES),
    chainId,
    fromWalletId: id("wal"),
    rows: z.int(),
    totals: z.array(z.object({ token: tokenRecord, amount: amountOut, rows: z.int() })),
    reference: z.string().nullable(),
    startsAt: timestamp,
    every: z.enum(SCHEDULE_PERIODS).nullable().meta({ description: "null: once" }),
    timeZone: z
      .string()
      .meta({ description: "IANA name; the wall-clock time of each run stays the same through clock changes" }),
    endsAt: timestamp.nullable(),
    nextRunAt: timestamp.nullable(),
    runs: z.array(scheduleRun).meta({ description: "The latest 20, newest first" }),
    nextAction: z.string(),
    createdBy: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "PayoutSchedule" });

export const createPayoutSchedule = defineContract({
  method: "POST",
  path: "/payouts/schedules",
  summary:
    "Pays the same rows at a time, or again and again; each run is a payout of its own, checked afresh. It begins once it is approved",
  tag,
  auth: "member",
  scope: "payouts:write",
  bodyLimit: BODY_BYTES_MAX.bulk,
  body: walletsPayoutBody.omit({ validateOnly: true, allowDuplicates: true }).extend({
    startsAt: timestamp,
    every: z.enum(SCHEDULE_PERIODS).optional(),
    timeZone: z.string().min(1).max(60).default("UTC"),
    endsAt: timestamp.optional(),
  }),
  status: 201,
  response: scheduleRecord,
  errors: [
    "invalid_request",
    "batch_too_large",
    "amount_precision",
    "unsupported_chain",
    "unsupported_token",
    "recipient_not_allowed",
    "payload_too_large",
  ],
});

export const listPayoutSchedules = defineContract({
  method: "GET",
  path: "/payouts/schedules",
  summary: "Schedules of the project, newest first",
  tag,
  auth: "member",
  scope: "payouts:read",
  query: pageQuery,
  status: 200,
  response: page(scheduleRecord),
});

const scheduleParams = z.object({ id: id("sch") });

export const getPayoutSchedule = defineContract({
  method: "GET",
  path: "/payouts/schedules/{id}",
  summary: "One schedule, its next run and its latest ones",
  tag,
  auth: "member",
  scope: "payouts:read",
  params: scheduleParams,
  status: 200,
  response: scheduleRecord,
  errors: ["not_found"],
});

export const approvePayoutSchedule = defineContract({
  method: "POST",
  path: "/payouts/schedules/{id}/approve",
  summary: "Approves each run of exactly these rows; the code comes from POST /swap/request-otp {scheduleId}",
  tag,
  auth: "user",
  params: scheduleParams,
  body: z.object({ otp }),
  status: 200,
  response: scheduleRecord,
  errors: ["not_found", "invalid_state", "otp_required", "otp_invalid", "otp_expired", "otp_attempts_exceeded"],
});

export const cancelPayoutSchedule = defineContract({
  method: "POST",
  path: "/payouts/schedules/{id}/cancel",
  summary: "Stops later runs; a payout that has begun goes on",
  tag,
  auth: "member",
  scope: "payouts:write",
  params: scheduleParams,
  status: 200,
  response: scheduleRecord,
  errors: ["not_found", "invalid_state"],
});

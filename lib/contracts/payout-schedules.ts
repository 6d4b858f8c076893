import { z } from "zod";
import {
  address,
  amountOut,
  chainId,
  chainIds,
  createdBetween,
  failureRecord,
  id,
  listOf,
  page,
  pageQuery,
  timestamp,
  tokenRecord,
} from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";
import { hasOneProof, oneProofMessage, proofFields } from "./proofs";
import { walletsPayoutBody } from "./payouts";
import { recipientWarnings } from "./warnings";

const tag = "Payouts";

export const SCHEDULE_PERIODS = ["day", "week", "month"] as const;
export const SCHEDULE_STATUSES = ["awaiting_approval", "active", "ended", "cancelled"] as const;
export const SCHEDULE_RUN_STATUSES = ["started", "missed", "refused"] as const;

const scheduleRun = z
  .object({
    scheduledAt: timestamp.meta({ description: "When the run was due" }),
    status: z.enum(SCHEDULE_RUN_STATUSES).meta({
      description:
        "`missed`: the service was not running in time, and it will never be paid by itself; `refused`: see failure",
    }),
    payoutId: id("po")
      .nullable()
      .meta({ description: "Payout that the run started; null where it started none" }),
    failure: failureRecord
      .nullable()
      .meta({ description: "Why it failed; null where it did not" }),
  })
  .meta({ id: "PayoutScheduleRun" });

export const scheduleRecord = z
  .object({
    id: id("sch").meta({ description: "Id of the schedule" }),
    status: z.enum(SCHEDULE_STATUSES).meta({ description: "How far the schedule is" }),
    chainId,
    fromWalletId: id("wal").meta({ description: "Treasury that pays" }),
    rows: z.int().meta({ description: "Rows of each run" }),
    totals: z
      .array(
        z.object({
          token: tokenRecord.meta({ description: "The token" }),
          amount: amountOut.meta({ description: "Sum of the token's rows" }),
          rows: z.int().meta({ description: "Number of rows" }),
        }),
      )
      .meta({ description: "Sum of each token in one run" }),
    warnings: recipientWarnings,
    reference: z
      .string()
      .nullable()
      .meta({ description: "Your own reference; null where none was given" }),
    startsAt: timestamp.meta({ description: "When the first run is due" }),
    every: z.enum(SCHEDULE_PERIODS).nullable().meta({ description: "null: once" }),
    timeZone: z.string().meta({
      description:
        "IANA name; the wall-clock time of each run stays the same through clock changes",
    }),
    endsAt: timestamp.nullable().meta({ description: "No run is due after it; null: no end" }),
    nextRunAt: timestamp
      .nullable()
      .meta({ description: "When the next run is due; null: there is none" }),
    runs: z.array(scheduleRun).meta({ description: "The latest 20, newest first" }),
    suspendedAt: timestamp.nullable().meta({
      description:
        "Since when it cannot be approved, because the session that made it was ended; null: it can. POST /me/sessions/made/restore lets it be approved again",
    }),
    nextAction: z.string().meta({ description: "A sentence that says what to do next" }),
    createdBy: z.string().meta({
      description:
        "Who created it: a person (usr_), an API key (key_) or a part of the service",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    updatedAt: timestamp.meta({ description: "When it last changed" }),
  })
  .meta({ id: "PayoutSchedule" });

export const scheduleItem = z
  .object({
    index: z.int().meta({ description: "Position of the row in the request, from 0" }),
    address,
    amount: amountOut.meta({ description: "Amount of the row in each run" }),
    token: tokenRecord.meta({ description: "The token" }),
    reference: z
      .string()
      .nullable()
      .meta({ description: "Your own reference; null where none was given" }),
    note: z.string().nullable().meta({ description: "Only this project sees it" }),
  })
  .meta({ id: "PayoutScheduleItem" });

export const createPayoutSchedule = defineContract({
  method: "POST",
  path: "/payouts/schedules",
  summary:
    "Pays the same rows at a time, or again and again; each run is a payout of its own, checked afresh. It begins once it is approved",
  description:
    "Stores rows that are paid once at a later time, or again in each period. Nothing is held and nothing moves until a run is due; each run checks the balance afresh. It waits for an approval with a code. Send an Idempotency-Key, otherwise a repeated call makes a second schedule.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "payouts:write",
  bodyLimit: BODY_BYTES_MAX.bulk,
  body: walletsPayoutBody.omit({ validateOnly: true, allowDuplicates: true }).extend({
    startsAt: timestamp.meta({ description: "When the first run is due, in the future" }),
    every: z
      .enum(SCHEDULE_PERIODS)
      .optional()
      .meta({ description: "Period of the runs. Default: one run" }),
    timeZone: z.string().min(1).max(60).default("UTC").meta({
      description: "IANA name of the time zone in which runs keep their wall-clock time",
    }),
    endsAt: timestamp
      .optional()
      .meta({ description: "No run is due after it. Default: no end" }),
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
    "policy_violation",
    "screening_refused",
    "payload_too_large",
    "unknown_wallet",
  ],
});

export const listPayoutSchedules = defineContract({
  method: "GET",
  path: "/payouts/schedules",
  summary: "Schedules of the project, newest first",
  description: "Filter by status, chain and time; read further pages with `cursor`.",
  tag,
  auth: "member",
  scope: "payouts:read",
  query: pageQuery.extend({
    status: listOf(SCHEDULE_STATUSES)
      .optional()
      .meta({ description: "Only these statuses, separated by commas" }),
    chainId: chainIds
      .optional()
      .meta({ description: "Only those that pay on these chains, separated by commas" }),
    ...createdBetween,
  }),
  status: 200,
  response: page(scheduleRecord),
});

const scheduleParams = z.object({ id: id("sch").meta({ description: "Id of the schedule" }) });

export const getPayoutSchedule = defineContract({
  method: "GET",
  path: "/payouts/schedules/{id}",
  summary: "One schedule, its next run and its latest ones",
  description:
    "Shows the state of the schedule, when it runs next, and its latest 20 runs with their payouts.",
  tag,
  auth: "member",
  scope: "payouts:read",
  params: scheduleParams,
  status: 200,
  response: scheduleRecord,
  errors: ["not_found"],
});

export const listPayoutScheduleItems = defineContract({
  method: "GET",
  path: "/payouts/schedules/{id}/items",
  summary: "The rows that each run of a schedule pays, in their order",
  description:
    "Each row with its recipient, amount and token. The approval of the schedule approves exactly these rows. Read further pages with `cursor`.",
  tag,
  auth: "member",
  scope: "payouts:read",
  params: scheduleParams,
  query: pageQuery,
  status: 200,
  response: page(scheduleItem),
  errors: ["not_found"],
});

export const approvePayoutSchedule = defineContract({
  method: "POST",
  path: "/payouts/schedules/{id}/approve",
  summary:
    "Approves each run of exactly these rows; the code comes from POST /swap/request-otp {scheduleId}",
  description:
    "The code approves these rows for each run of the schedule. Ask for it with POST /swap/request-otp {scheduleId}. No money moves before the first run is due.",
  tag,
  auth: "user",
  permission: "money:move",
  params: scheduleParams,
  body: z.object(proofFields).refine(hasOneProof, oneProofMessage),
  status: 200,
  response: scheduleRecord,
  errors: [
    "not_found",
    "invalid_state",
    "otp_required",
    "otp_invalid",
    "otp_expired",
    "otp_attempts_exceeded",
    "invalid_signature",
  ],
});

export const cancelPayoutSchedule = defineContract({
  method: "POST",
  path: "/payouts/schedules/{id}/cancel",
  summary: "Stops later runs; a payout that has begun goes on",
  description:
    "No further run starts. Payouts that a run started go on; cancel them at POST /payouts/{id}/cancel.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "payouts:write",
  params: scheduleParams,
  status: 200,
  response: scheduleRecord,
  errors: ["not_found", "invalid_state"],
});

import { z } from "zod";
import { amount, amountOut, id, page, pageQuery, status, subStatus, timestamp } from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";
import { currencyRef } from "./global-accounts";
import { failureRecord } from "./operations";

const tag = "Payouts";

export const PAYOUT_ROWS_MAX = 10_000;
export const PAYOUT_KINDS = ["global_accounts"] as const;
export const PAYOUT_MODES = ["atomic", "independent"] as const;
export const PAYOUT_ITEM_STATUSES = ["pending", "completed", "failed"] as const;

export const payoutRecord = z.object({
  payoutId: id("po"),
  kind: z.enum(PAYOUT_KINDS),
  mode: z.enum(PAYOUT_MODES),
  status,
  subStatus,
  sourceAccountId: id("ga"),
  currency: z.string(),
  assetId: z.string(),
  decimals: z.int(),
  reference: z.string().nullable(),
  total: amountOut,
  paid: amountOut,
  items: z.object({ total: z.int(), pending: z.int(), completed: z.int(), failed: z.int() }),
  failure: failureRecord.nullable(),
  retryOf: id("po").nullable().meta({ description: "The payout whose failed rows this one tries again" }),
  nextAction: z.string(),
  createdBy: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
  expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved" }),
});

export const createAccountsPayout = defineContract({
  method: "POST",
  path: "/payouts/bulk/global-accounts",
  summary:
    "Pays many accounts from one: all or nothing, or each for itself; every bad row is reported by its index and nothing is paid",
  tag,
  auth: "member",
  scope: "payouts:write",
  bodyLimit: BODY_BYTES_MAX.bulk,
  body: z.object({
    sourceAccountId: id("ga"),
    transfers: z
      .array(
        z.object({
          recipientAccountId: id("ga"),
          amount,
          currency: currencyRef,
          reference: z.string().max(140).optional(),
        }),
      )
      .min(1),
    mode: z.enum(PAYOUT_MODES).default("atomic"),
    reference: z.string().trim().min(1).max(140).optional(),
    validateOnly: z.boolean().default(false),
  }),
  status: 202,
  response: payoutRecord.extend({ payoutId: id("po").nullable().meta({ description: "null for validateOnly" }) }),
  errors: [
    "invalid_request",
    "not_found",
    "insufficient_balance",
    "batch_too_large",
    "amount_precision",
    "recipient_not_allowed",
    "payload_too_large",
  ],
});

export const listPayouts = defineContract({
  method: "GET",
  path: "/payouts",
  summary: "Payouts of the project, newest first",
  tag,
  auth: "member",
  scope: "payouts:read",
  query: pageQuery.extend({ status: status.optional() }),
  status: 200,
  response: page(payoutRecord),
});

const params = z.object({ id: id("po") });

export const getPayout = defineContract({
  method: "GET",
  path: "/payouts/{id}",
  summary: "One payout and how far it is",
  tag,
  auth: "member",
  scope: "payouts:read",
  params,
  status: 200,
  response: payoutRecord,
  errors: ["not_found"],
});

export const listPayoutItems = defineContract({
  method: "GET",
  path: "/payouts/{id}/items",
  summary: "Rows of a payout in their order; `format=csv` for all of them as RFC 4180",
  tag,
  auth: "member",
  scope: "payouts:read",
  params,
  query: pageQuery.extend({
    status: z.enum(PAYOUT_ITEM_STATUSES).optional(),
    format: z.enum(["json", "csv"]).default("json"),
  }),
  status: 200,
  response: page(
    z.object({
      index: z.int(),
      recipientAccountId: id("ga"),
      amount: amountOut,
      currency: z.string(),
      reference: z.string().nullable(),
      status: z.enum(PAYOUT_ITEM_STATUSES),
      transactionId: z.string().nullable(),
      failure: failureRecord.nullable(),
    }),
  ),
  errors: ["not_found"],
});

export const approvePayout = defineContract({
  method: "POST",
  path: "/payouts/{id}/approve",
  summary: "Lets a payout that awaits approval run; its code comes from POST /swap/request-otp {payoutId}",
  tag,
  auth: "user",
  params,
  body: z.object({ otp: z.string().regex(/^[0-9]{6}$/, "must be 6 digits") }),
  status: 202,
  response: payoutRecord,
  errors: ["not_found", "invalid_state", "otp_required", "otp_invalid", "otp_expired", "otp_attempts_exceeded"],
});

export const cancelPayout = defineContract({
  method: "POST",
  path: "/payouts/{id}/cancel",
  summary: "Cancels a payout that has not begun",
  tag,
  auth: "member",
  scope: "payouts:write",
  params,
  status: 200,
  response: payoutRecord,
  errors: ["not_found", "invalid_state"],
});

export const retryPayout = defineContract({
  method: "POST",
  path: "/payouts/{id}/retry",
  summary: "Tries the failed rows of an independent payout again; paid ones are not paid again",
  tag,
  auth: "member",
  scope: "payouts:write",
  params,
  status: 202,
  response: payoutRecord,
  errors: ["not_found", "invalid_state", "insufficient_balance", "recipient_not_allowed"],
});

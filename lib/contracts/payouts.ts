import { z } from "zod";
import {
  address,
  amount,
  amountOut,
  chainId,
  hex,
  id,
  page,
  pageQuery,
  status,
  subStatus,
  timestamp,
  tokenRecord,
  tokenRef,
} from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";
import { currencyRef } from "./global-accounts";
import { failureRecord } from "./operations";
import { quoteRecord } from "./swap";

const tag = "Payouts";

export const PAYOUT_ROWS_MAX = 10_000;
export const PAYOUT_KINDS = ["global_accounts", "wallets"] as const;
export const PAYOUT_MODES = ["atomic", "independent"] as const;
export const PAYOUT_ITEM_STATUSES = ["pending", "completed", "failed"] as const;
/**
 * `unknown`: it was offered to the chain, and whether it was taken is not known yet; neither failed nor paid.
 * `confirmed`: mined, and not yet at the depth that the chain's configuration asks for.
 */
export const WALLET_ROW_STATUSES = ["queued", "sent", "confirmed", "paid", "failed", "unknown", "cancelled"] as const;
/** Statuses of rows of both kinds; each payout's rows have those of its own kind. */
export const ROW_STATUSES = [
  ...PAYOUT_ITEM_STATUSES.filter((each) => each !== "failed"),
  ...WALLET_ROW_STATUSES,
] as const;

const payoutBase = z.object({
  payoutId: id("po"),
  mode: z.enum(PAYOUT_MODES),
  status,
  subStatus,
  reference: z.string().nullable(),
  failure: failureRecord.nullable(),
  retryOf: id("po").nullable().meta({ description: "The payout whose failed rows this one tries again" }),
  nextAction: z.string(),
  may: z
    .object({ approve: z.boolean(), cancel: z.boolean(), retry: z.boolean() })
    .meta({ description: "What can be asked of it now" }),
  createdBy: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
  expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved" }),
});

export const accountsPayoutRecord = payoutBase.extend({
  kind: z.literal("global_accounts"),
  sourceAccountId: id("ga"),
  currency: z.string(),
  assetId: z.string(),
  decimals: z.int(),
  total: amountOut,
  paid: amountOut,
  items: z.object({ total: z.int(), pending: z.int(), completed: z.int(), failed: z.int() }),
});

const walletRowCounts = z.object({
  total: z.int(),
  queued: z.int(),
  sent: z.int(),
  confirmed: z.int(),
  paid: z.int(),
  failed: z.int(),
  unknown: z.int(),
  cancelled: z.int(),
});

export const payoutWarning = z.object({
  code: z.enum(["lookalike_recipient", "code_elsewhere", "duplicate_row"]),
  index: z.int().meta({ description: "Of the row" }),
  message: z.string(),
});

export const walletsPayoutRecord = payoutBase.extend({
  kind: z.literal("wallets"),
  chainId,
  fromWalletId: id("wal"),
  fromAddress: address,
  totals: z
    .array(z.object({ token: tokenRecord, amount: amountOut, paid: amountOut, rows: z.int() }))
    .meta({ description: "For each token, in the order of its first row" }),
  items: walletRowCounts,
  batches: z.object({ total: z.int(), settled: z.int() }).meta({ description: "Transactions that carry the rows" }),
  networkFee: z
    .object({
      token: tokenRecord,
      amount: amountOut.meta({ description: "Estimated until every batch is settled, then what was paid" }),
      usd: z.string().nullable(),
      paidBy: z.enum(["sponsor", "wallet"]),
      estimated: z.boolean(),
    })
    .nullable(),
  warnings: z.array(payoutWarning).meta({ description: "At most 100; of rows that are accepted all the same" }),
  fundFrom: z.enum(["auto", "sources"]).nullable(),
  funding: z
    .object({
      token: tokenRecord,
      missing: amountOut.meta({ description: "What the chain lacked when this was planned" }),
      minimum: amountOut.meta({ description: "What arrives at least" }),
      sources: z.array(z.object({ walletId: id("wal"), chainId, token: tokenRecord, amount: amountOut })),
      fees: quoteRecord.shape.fees,
      estimatedSeconds: z.int(),
    })
    .nullable()
    .meta({ description: "What brings the missing part to the chain first; null where nothing is missing" }),
  fundedBy: id("op").nullable().meta({ description: "The operation that brings the missing part to the chain first" }),
  scheduleId: id("sch").nullable(),
});

/** One list for both kinds: `kind` tells which fields it has. */
export const payoutRecord = z.discriminatedUnion("kind", [accountsPayoutRecord, walletsPayoutRecord]);

export const accountsPayoutItem = z.object({
  kind: z.literal("global_accounts"),
  index: z.int(),
  recipientAccountId: id("ga"),
  amount: amountOut,
  currency: z.string(),
  reference: z.string().nullable(),
  status: z.enum(PAYOUT_ITEM_STATUSES),
  transactionId: z.string().nullable(),
  failure: failureRecord.nullable(),
});

export const walletsPayoutItem = z.object({
  kind: z.literal("wallets"),
  index: z.int(),
  address,
  amount: amountOut,
  amountBase: z.string(),
  token: tokenRecord,
  reference: z.string().nullable(),
  note: z.string().nullable().meta({ description: "Only this project sees it" }),
  status: z.enum(WALLET_ROW_STATUSES),
  batch: z.int().meta({ description: "Number of the transaction that carries it, from 0" }),
  txHash: hex.nullable(),
  blockNumber: z.string().nullable(),
  confirmations: z.object({ have: z.int(), need: z.int() }).nullable(),
  explorerUrl: z.string().nullable(),
  failure: failureRecord.nullable(),
});

const validatedId = id("po").nullable().meta({ description: "null for validateOnly" });

const allowDuplicates = z.boolean().default(false).meta({
  description:
    "Pay although the same recipient, token, amount and reference was paid, or is being paid, within 30 days; also within one list",
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
    allowDuplicates,
  }),
  status: 202,
  response: accountsPayoutRecord.extend({ payoutId: validatedId }),
  errors: [
    "invalid_request",
    "duplicate_payout",
    "not_found",
    "insufficient_balance",
    "batch_too_large",
    "amount_precision",
    "recipient_not_allowed",
    "payload_too_large",
  ],
});

/** Texts here, checked one by one in the service, so that every bad row of a long list is named at once, by index and field. */
const walletTransfer = z.object({
  address: z.string().meta({ description: "EVM address; mixed case must be a right EIP-55 checksum" }),
  amount: z
    .string()
    .meta({ description: "Decimal amount in units of the token, never base units", examples: ["12.5"] }),
  token: z.string().meta({ description: "Symbol from the chain's token list, 0x address, `native`, or CAIP-19" }),
  reference: z.string().optional().meta({ description: "At most 140 characters" }),
  note: z.string().optional().meta({ description: "At most 500 characters; only this project sees it" }),
});

/** Where the treasury's money may come from when the chain lacks it: the service chooses, or these wallets and chains. */
const fundFrom = z.union([
  z.literal("auto"),
  z
    .array(z.object({ walletId: id("wal").optional(), chainId, token: tokenRef }))
    .min(1)
    .max(10),
]);

const walletsPayoutBody = z.object({
  chainId,
  transfers: z.array(walletTransfer).min(1),
  reference: z.string().trim().min(1).max(140).optional(),
  validateOnly: z.boolean().default(false),
  allowDuplicates,
  fundFrom: fundFrom.optional(),
});

export const createWalletsPayout = defineContract({
  method: "POST",
  path: "/payouts/bulk/wallets",
  summary:
    "Pays up to 10,000 addresses on one chain from the treasury; every bad row is reported by its index and nothing is paid",
  tag,
  auth: "member",
  scope: "payouts:write",
  bodyLimit: BODY_BYTES_MAX.bulk,
  body: walletsPayoutBody,
  status: 202,
  response: walletsPayoutRecord.extend({ payoutId: validatedId }),
  errors: [
    "invalid_request",
    "duplicate_payout",
    "insufficient_balance",
    "insufficient_reserves",
    "insufficient_liquidity",
    "no_route",
    "batch_too_large",
    "amount_precision",
    "unsupported_chain",
    "unsupported_token",
    "recipient_not_allowed",
    "sponsor_budget_exceeded",
    "payload_too_large",
    "chain_unavailable",
  ],
});

export const listPayouts = defineContract({
  method: "GET",
  path: "/payouts",
  summary: "Payouts of the project, newest first",
  tag,
  auth: "member",
  scope: "payouts:read",
  query: pageQuery.extend({ status: status.optional(), kind: z.enum(PAYOUT_KINDS).optional() }),
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
    status: z.enum(ROW_STATUSES).optional(),
    format: z.enum(["json", "csv"]).default("json"),
  }),
  status: 200,
  response: page(z.discriminatedUnion("kind", [accountsPayoutItem, walletsPayoutItem])),
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
  summary: "Cancels a payout that has not begun; of one to wallets, stops the rows that were not sent yet",
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

export const SCHEDULE_PERIODS = ["day", "week", "month"] as const;
export const SCHEDULE_STATUSES = ["awaiting_approval", "active", "ended", "cancelled"] as const;
export const SCHEDULE_RUN_STATUSES = ["started", "missed", "refused"] as const;

const scheduleRun = z.object({
  scheduledAt: timestamp,
  status: z.enum(SCHEDULE_RUN_STATUSES).meta({
    description:
      "`missed`: the service was not running in time, and it will never be paid by itself; `refused`: see failure",
  }),
  payoutId: id("po").nullable(),
  failure: failureRecord.nullable(),
});

export const scheduleRecord = z.object({
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
});

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
  body: z.object({ otp: z.string().regex(/^[0-9]{6}$/, "must be 6 digits") }),
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

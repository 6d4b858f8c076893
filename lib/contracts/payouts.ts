import { z } from "zod";
import type { ErrorCode } from "@/lib/core/errors";
import { amount, chainId, id, page, pageQuery, status, tokenRef, otp } from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";
import { currencyRef } from "./global-accounts";
import {
  accountsPayoutItem,
  accountsPayoutRecord,
  PAYOUT_KINDS,
  PAYOUT_MODES,
  payoutRecord,
  ROW_STATUSES,
  walletsPayoutItem,
  walletsPayoutRecord,
} from "./payout-records";

const tag = "Payouts";

/** What keeps money from being held for a payout, or brought to its chain; looked at when it is made, approved or tried again. */
const MONEY_ERRORS = [
  "insufficient_balance",
  "insufficient_reserves",
  "insufficient_liquidity",
  "no_route",
  "quote_price_moved",
  "simulation_failed",
  "sponsor_budget_exceeded",
  "chain_unavailable",
] as const satisfies readonly ErrorCode[];

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
const walletTransfer = z
  .object({
    address: z.string().meta({ description: "EVM address; mixed case must be a right EIP-55 checksum" }),
    amount: z
      .string()
      .meta({ description: "Decimal amount in units of the token, never base units", examples: ["12.5"] }),
    token: z.string().meta({ description: "Symbol from the chain's token list, 0x address, `native`, or CAIP-19" }),
    reference: z.string().optional().meta({ description: "At most 140 characters" }),
    note: z.string().optional().meta({ description: "At most 500 characters; only this project sees it" }),
  })
  .meta({ id: "WalletPayment" });

/** Where the treasury's money may come from when the chain lacks it: the service chooses, or these wallets and chains. */
const fundFrom = z.union([
  z.literal("auto"),
  z
    .array(z.object({ walletId: id("wal").optional(), chainId, token: tokenRef }))
    .min(1)
    .max(10),
]);

export const walletsPayoutBody = z.object({
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
    "batch_too_large",
    "amount_precision",
    "unsupported_chain",
    "unsupported_token",
    "recipient_not_allowed",
    "payload_too_large",
    ...MONEY_ERRORS,
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
  body: z.object({ otp }),
  status: 202,
  response: payoutRecord,
  errors: [
    "not_found",
    "invalid_state",
    "otp_required",
    "otp_invalid",
    "otp_expired",
    "otp_attempts_exceeded",
    ...MONEY_ERRORS,
  ],
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
  errors: [
    "not_found",
    "invalid_state",
    "recipient_not_allowed",
    "unsupported_chain",
    "unsupported_token",
    ...MONEY_ERRORS,
  ],
});

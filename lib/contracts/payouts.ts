import { z } from "zod";
import type { ErrorCode } from "@/lib/core/errors";
import { STATUSES } from "@/lib/core/status";
import {
  amount,
  chainId,
  createdBetween,
  id,
  listOf,
  page,
  pageQuery,
  tokenRef,
} from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";
import { hasOneProof, oneProofMessage, proofFields } from "./proofs";
import { currencyRef } from "./global-accounts";
import { PAYOUT_KINDS, PAYOUT_MODES, ROW_STATUSES } from "@/lib/core/payout-facts";
import {
  accountsPayoutItem,
  accountsPayoutRecord,
  payoutRecord,
  walletsPayoutItem,
  walletsPayoutRecord,
} from "./payout-records";

const tag = "Payouts";

/**
 * Error codes of holding a payout's money and of moving it to the chain, at creation, approval and
 * retry.
 */
const MONEY_ERRORS = [
  "insufficient_balance",
  "insufficient_reserves",
  "insufficient_liquidity",
  "no_route",
  "price_impact_too_high",
  "quote_price_moved",
  "recipient_frozen",
  "wallet_frozen",
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
  description:
    "Moves money from one ledger account to others; nothing happens on a chain and there is no fee. `atomic` pays all rows or none. A caller who needs a code gets `awaiting_approval`: request a code and approve it. Rows that repeat a payment of the last 30 days answer 409 `duplicate_payout`. Send an Idempotency-Key.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "payouts:write",
  bodyLimit: BODY_BYTES_MAX.bulk,
  body: z.object({
    sourceAccountId: id("ga").meta({ description: "Account that pays" }),
    transfers: z
      .array(
        z.object({
          recipientAccountId: id("ga").meta({ description: "Account that is paid" }),
          amount,
          currency: currencyRef,
          reference: z
            .string()
            .max(140)
            .optional()
            .meta({ description: "Your reference of the row, 140 characters at most" }),
        }),
      )
      .min(1)
      .meta({ description: "The rows, 10,000 at most" }),
    mode: z
      .enum(PAYOUT_MODES)
      .default("atomic")
      .meta({ description: "`atomic`: all rows or none. `independent`: each row by itself" }),
    reference: z
      .string()
      .trim()
      .min(1)
      .max(140)
      .optional()
      .meta({ description: "Your reference of the whole payout, 140 characters at most" }),
    validateOnly: z
      .boolean()
      .default(false)
      .meta({ description: "Checks everything and stores nothing" }),
    allowDuplicates,
  }),
  status: 202,
  response: accountsPayoutRecord.extend({
    id: validatedId,
    payoutId: validatedId,
  }),
  errors: [
    "invalid_request",
    "duplicate_payout",
    "not_found",
    "insufficient_balance",
    "batch_too_large",
    "amount_precision",
    "recipient_not_allowed",
    "policy_violation",
    "screening_refused",
    "payload_too_large",
    "unsupported_token",
  ],
});

/**
 * The fields are unchecked texts, because the service checks them row by row, so that one response
 * names every invalid row by index and field.
 */
const walletTransfer = z
  .object({
    address: z
      .string()
      .meta({ description: "EVM address; mixed case must be a right EIP-55 checksum" }),
    amount: z.string().meta({
      description: "Decimal amount in units of the token, never base units",
      examples: ["12.5"],
    }),
    token: z.string().meta({
      description: "Symbol from the chain's token list, 0x address, `native`, or CAIP-19",
    }),
    reference: z.string().optional().meta({ description: "At most 140 characters" }),
    note: z
      .string()
      .optional()
      .meta({ description: "At most 500 characters; only this project sees it" }),
  })
  .meta({ id: "WalletPayment" });

/**
 * Where to get money that the treasury lacks on the payout's chain. With `auto` the service
 * chooses.
 */
const fundFrom = z.union([
  z.literal("auto"),
  z
    .array(
      z.object({
        walletId: id("wal")
          .optional()
          .meta({ description: "Wallet to take it from. Default: the treasury" }),
        chainId,
        token: tokenRef.meta({ description: "Token to take" }),
      }),
    )
    .min(1)
    .max(10),
]);

export const walletsPayoutBody = z.object({
  chainId,
  transfers: z.array(walletTransfer).min(1).meta({ description: "The rows, 10,000 at most" }),
  reference: z
    .string()
    .trim()
    .min(1)
    .max(140)
    .optional()
    .meta({ description: "Your reference of the whole payout, 140 characters at most" }),
  validateOnly: z
    .boolean()
    .default(false)
    .meta({ description: "Checks everything and stores nothing" }),
  allowDuplicates,
  fundFrom: fundFrom.optional().meta({
    description:
      "Where the missing part comes from when the treasury lacks it on the chain: `auto` lets the service choose among the treasury's other chains",
  }),
});

export const createWalletsPayout = defineContract({
  method: "POST",
  path: "/payouts/bulk/wallets",
  summary:
    "Pays up to 10,000 addresses on one chain from the treasury; every bad row is reported by its index and nothing is paid",
  description:
    "Pays addresses from the treasury in batched transactions; the sponsor or the treasury pays the network fee. Every wrong row is reported at once and then nothing is paid. A caller who needs a code gets `awaiting_approval`. Each row is paid once at most, whatever fails in between. Send an Idempotency-Key, and follow GET /payouts/{id}.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "payouts:write",
  bodyLimit: BODY_BYTES_MAX.bulk,
  body: walletsPayoutBody.extend({
    sourceAccountId: id("ga").optional().meta({
      description:
        "Account that bears the payments: a withdrawal. It is debited at once for all rows, which have to be in its currency, and gets back what is not paid; the network fee is the project's. Not together with `fundFrom`",
    }),
  }),
  status: 202,
  response: walletsPayoutRecord.extend({ id: validatedId, payoutId: validatedId }),
  errors: [
    "invalid_request",
    "not_found",
    "invalid_state",
    "duplicate_payout",
    "batch_too_large",
    "amount_precision",
    "unsupported_chain",
    "unsupported_token",
    "recipient_not_allowed",
    "policy_violation",
    "screening_refused",
    "payload_too_large",
    ...MONEY_ERRORS,
    "unknown_wallet",
  ],
});

export const listPayouts = defineContract({
  method: "GET",
  path: "/payouts",
  summary: "Payouts of the project, newest first",
  description:
    "Payouts of both kinds; `kind` says which fields a payout has. Filter by status, kind and time; read further pages with `cursor`.",
  tag,
  auth: "member",
  scope: "payouts:read",
  query: pageQuery.extend({
    status: listOf(STATUSES)
      .optional()
      .meta({ description: "Only these statuses, separated by commas" }),
    kind: z.enum(PAYOUT_KINDS).optional().meta({ description: "Only this kind" }),
    ...createdBetween,
  }),
  status: 200,
  response: page(payoutRecord),
});

const params = z.object({ id: id("po").meta({ description: "Id in the path" }) });

export const getPayout = defineContract({
  method: "GET",
  path: "/payouts/{id}",
  summary: "One payout and how far it is",
  description:
    "Shows the status, sums, numbers of rows by status, fees and what can be done next. Read single rows at GET /payouts/{id}/items.",
  tag,
  auth: "member",
  scope: "payouts:read",
  params,
  status: 200,
  response: payoutRecord,
  errors: ["not_found"],
});

const rowStatus = z
  .enum(ROW_STATUSES)
  .optional()
  .meta({ description: "Only rows with this status" });

export const listPayoutItems = defineContract({
  method: "GET",
  path: "/payouts/{id}/items",
  summary: "Rows of a payout in their order",
  description:
    "Each row with its status, transaction and failure. Filter by status, and read further pages with `cursor`. GET /payouts/{id}/items/export has all rows in one file.",
  tag,
  auth: "member",
  scope: "payouts:read",
  params,
  query: pageQuery.extend({ status: rowStatus }),
  status: 200,
  response: page(z.discriminatedUnion("kind", [accountsPayoutItem, walletsPayoutItem])),
  errors: ["not_found"],
});

export const exportPayoutItems = defineContract({
  method: "GET",
  path: "/payouts/{id}/items/export",
  summary: "All rows of a payout as CSV (RFC 4180); cells are safe to open in a spreadsheet",
  description:
    "Takes the same filter as GET /payouts/{id}/items and answers a CSV download with a line for each row, in their order. Changes nothing.",
  tag,
  auth: "member",
  scope: "payouts:read",
  params,
  query: z.object({ status: rowStatus }),
  status: 200,
  response: z.string(),
  mediaType: "text/csv",
  errors: ["not_found"],
});

export const approvePayout = defineContract({
  method: "POST",
  path: "/payouts/{id}/approve",
  summary:
    "Lets a payout that awaits approval run; its code comes from POST /swap/request-otp {payoutId}",
  description:
    "The code approves exactly these rows. The payout starts at once and each row is paid once. Ask for the code with POST /swap/request-otp {payoutId}.",
  tag,
  auth: "user",
  permission: "money:move",
  params,
  body: z.object(proofFields).refine(hasOneProof, oneProofMessage),
  status: 202,
  response: payoutRecord,
  errors: [
    "not_found",
    "invalid_state",
    "otp_required",
    "otp_invalid",
    "otp_expired",
    "otp_attempts_exceeded",
    "invalid_signature",
    ...MONEY_ERRORS,
    "policy_violation",
    "screening_refused",
  ],
});

export const cancelPayout = defineContract({
  method: "POST",
  path: "/payouts/{id}/cancel",
  summary:
    "Cancels a payout that has not begun; of one to wallets, stops the rows that were not sent yet",
  description:
    "Ends a payout that waits, or stops the rows that were not sent yet. Rows that were sent are paid; their status shows it. Held money of the other rows is free again. As long as a restored database was not compared with the chains (503 `signing_off`), a payout to wallets whose money is held cannot be cancelled.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "payouts:write",
  params,
  status: 200,
  response: payoutRecord,
  errors: ["not_found", "invalid_state", "signing_off"],
});

export const retryPayout = defineContract({
  method: "POST",
  path: "/payouts/{id}/retry",
  summary: "Tries the failed rows of an independent payout again; paid ones are not paid again",
  description:
    "Starts a new payout with the rows that failed. Paid rows and rows of unknown outcome are never a part of it. It holds money again, and waits for a code where the caller needs one.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "payouts:write",
  params,
  status: 202,
  response: payoutRecord,
  errors: [
    "not_found",
    "invalid_state",
    "recipient_not_allowed",
    "policy_violation",
    "screening_refused",
    "unsupported_chain",
    "unsupported_token",
    ...MONEY_ERRORS,
    "unknown_wallet",
  ],
});

import { z } from "zod";
import { address, amount, chainId, hex, id, otp, status, subStatus, timestamp, tokenRef } from "./common";
import { defineContract } from "./contract";
import { quoteId } from "./privacy-swap";
import { action, balanceChange, feePayer, quoteRecord } from "./quote-records";

const tag = "Swaps";

export const SOURCES_MAX = 10;

/** Every source by up to six transactions: two allowances, each reset first, a swap and a deposit. */
const SIGNATURES_MAX = SOURCES_MAX * 6;

export const SLIPPAGE_BPS_DEFAULT = 50;

export const SLIPPAGE_BPS_MAX = 1000;

export const quoteSource = z.object({ address, chainId, token: tokenRef, amount }).meta({ id: "QuoteSource" });

export const quoteBody = z.object({
  from: z.array(quoteSource).min(1).max(SOURCES_MAX),
  toChainId: chainId,
  toToken: tokenRef,
  toAddress: address,
  slippageBps: z.int().min(0).max(SLIPPAGE_BPS_MAX).default(SLIPPAGE_BPS_DEFAULT),
});

export const createQuote = defineContract({
  method: "POST",
  path: "/swap/quote",
  summary: "Prices a swap or transfer from up to ten sources to one destination",
  tag,
  auth: "member",
  scope: "swaps:write",
  body: quoteBody,
  status: 200,
  response: quoteRecord,
  errors: [
    "invalid_request",
    "unknown_wallet",
    "unsupported_chain",
    "unsupported_token",
    "amount_precision",
    "no_route",
  ],
  inputErrorsAs400: true,
});

/** What steps (b) to (d) are about: a quote, or a transfer. A code may also approve an operation that waits for it. */
const subject = z.object({ quoteId: id("qt").optional(), transferId: id("tr").optional() });

const oneSubject = (value: { quoteId?: string | undefined; transferId?: string | undefined }): boolean =>
  (value.quoteId === undefined) !== (value.transferId === undefined);

const oneSubjectMessage = { message: "name either quoteId or transferId", path: ["quoteId"] };

export const requestOtp = defineContract({
  method: "POST",
  path: "/swap/request-otp",
  summary:
    "Sends the one-time code that approves exactly this quote, transfer, waiting operation, payout, schedule or change; a key needs the scope that moves it",
  tag,
  auth: "member",
  scope: ["swaps:write", "transfers:write", "operations:write", "payouts:write", "privacy:write"],
  // A viewer may change an e-mail address of one's own, and approves that; for what moves money the route refuses viewers.
  personal: true,
  body: subject
    .extend({
      operationId: id("op").optional(),
      payoutId: id("po").optional(),
      scheduleId: id("sch").optional(),
      approvalId: id("apr").optional().meta({ description: "Of a 409 `approval_required`" }),
    })
    .refine(
      ({ quoteId, transferId, operationId, payoutId, scheduleId, approvalId }) =>
        [quoteId, transferId, operationId, payoutId, scheduleId, approvalId].filter((each) => each !== undefined)
          .length === 1,
      {
        message: "name one of quoteId, transferId, operationId, payoutId, scheduleId and approvalId",
        path: ["quoteId"],
      },
    ),
  status: 200,
  response: z.object({
    otpId: id("otp"),
    channel: z.enum(["email", "totp"]),
    destination: z.string().meta({ description: "Masked" }),
    expiresAt: timestamp,
    resendAfter: timestamp,
  }),
  errors: [
    "insufficient_scope",
    "not_found",
    "invalid_state",
    "quote_expired",
    "quote_already_used",
    "otp_channel_missing",
    "rate_limited",
    "provider_error",
  ],
});

export const prepareSwap = defineContract({
  method: "POST",
  path: "/swap/prepare",
  summary: "Checks the code, prices again, simulates, and locks the price for 60 s",
  tag,
  auth: "member",
  scope: "swaps:write",
  body: subject
    .extend({
      otp: otp.optional(),
    })
    .refine(oneSubject, oneSubjectMessage),
  status: 200,
  response: z.object({
    prepared: z.literal(true),
    quoteId: id("qt"),
    transferId: id("tr").optional(),
    expiresAt: timestamp,
    to: quoteRecord.shape.to,
    warnings: quoteRecord.shape.warnings,
    networkFees: z
      .array(z.object({ walletAddress: address, chainId, paidBy: feePayer }))
      .meta({ description: "Who pays the network fee of each source" }),
    simulation: z.object({ balanceChanges: z.array(balanceChange) }),
    actions: z.array(action),
  }),
  errors: [
    "not_found",
    "quote_expired",
    "quote_already_used",
    "quote_price_moved",
    "otp_required",
    "otp_invalid",
    "otp_expired",
    "otp_attempts_exceeded",
    "insufficient_balance",
    "simulation_failed",
    "sponsor_budget_exceeded",
    "chain_unavailable",
  ],
});

export const executeSwap = defineContract({
  method: "POST",
  path: "/swap/execute",
  summary: "Moves the money, once; follow it at /operations/{id}",
  tag,
  auth: "member",
  scope: "swaps:write",
  body: subject
    .extend({
      signatures: z
        .array(z.object({ actionId: z.string(), signature: hex.optional(), txHash: hex.optional() }))
        .max(SIGNATURES_MAX)
        .optional(),
    })
    .refine(oneSubject, oneSubjectMessage),
  status: 202,
  response: z.object({ operationId: id("op"), transferId: id("tr").optional(), status, subStatus }),
  errors: [
    "not_found",
    "invalid_state",
    "invalid_signature",
    "quote_expired",
    "quote_already_used",
    "insufficient_balance",
    "sponsor_budget_exceeded",
    "recipient_not_allowed",
    "otp_required",
  ],
});

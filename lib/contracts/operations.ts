import { z } from "zod";
import { STATUSES } from "@/lib/core/status";
import { chainIds, createdBetween, id, idsOf, listOf, page, pageQuery } from "./common";
import { defineContract } from "./contract";
import { hasOneProof, oneProofMessage, proofFields } from "./proofs";
import { OPERATION_KINDS, operationEvent, operationRecord } from "./operation-records";
import { privateTransferRecord } from "./privacy-records";
import { quoteRecord } from "./quote-records";

const tag = "Operations";

const operationFilters = {
  private: z
    .enum(["exclude"])
    .optional()
    .meta({ description: "`exclude` leaves private operations out" }),
  status: listOf(STATUSES)
    .optional()
    .meta({ description: "Only these statuses, separated by commas" }),
  kind: listOf(OPERATION_KINDS)
    .optional()
    .meta({ description: "Only these kinds, separated by commas" }),
  chainId: chainIds
    .optional()
    .meta({ description: "Source or destination on one of these chains, separated by commas" }),
  walletId: idsOf("wal").optional().meta({
    description:
      "Only operations that one of these wallets pays, and deposits into them, separated by commas",
  }),
  ...createdBetween,
  q: z.string().trim().min(1).max(120).optional().meta({
    description:
      "An operation or transfer id, a 0x address, a transaction hash, a token symbol, or a part of a memo or tag",
  }),
  tag: z
    .string()
    .trim()
    .min(1)
    .max(32)
    .optional()
    .meta({ description: "Only those with this tag, in any case" }),
};

export const listOperations = defineContract({
  method: "GET",
  path: "/operations",
  summary: "Everything that moves money, newest first",
  description:
    "Everything that moves money in the project, of all kinds. Filter by status, kind, chain, wallet and time; read further pages with `cursor`.",
  tag,
  auth: "member",
  scope: "operations:read",
  query: pageQuery.extend(operationFilters),
  status: 200,
  response: page(operationRecord),
});

export const exportOperations = defineContract({
  method: "GET",
  path: "/operations/export",
  summary:
    "The same list as CSV (RFC 4180), a line per leg, 10,000 operations at most; cells are safe to open in a spreadsheet",
  description:
    "Takes the same filters as GET /operations and answers a CSV download with a line for each leg. Changes nothing.",
  tag,
  auth: "member",
  scope: "operations:read",
  query: z.object(operationFilters),
  status: 200,
  response: z.string(),
  mediaType: "text/csv",
});

const params = z.object({ id: id("op").meta({ description: "Id in the path" }) });

export const getOperation = defineContract({
  method: "GET",
  path: "/operations/{id}",
  summary: "One operation: its legs, and where each part of the money is",
  description:
    "Shows the status, each leg with its transactions, what was spent and received, where the rest of the money is, and what to do next. Poll it, or use GET /operations/{id}/events.",
  tag,
  auth: "member",
  scope: "operations:read",
  params,
  status: 200,
  response: operationRecord,
  errors: ["not_found"],
});

export const streamOperationEvents = defineContract({
  method: "GET",
  path: "/operations/{id}/events",
  summary:
    "Events as a stream (server-sent events); `Last-Event-ID` resumes after that seq; ends when the operation is final, or within a second when the credential ends. At most 50 at once for each caller and 200 for each network address",
  description:
    "A stream of server-sent events that shows each step as it happens, beginning with the first. Reconnect with the header `Last-Event-ID`. The stream ends when the operation is final.",
  tag,
  auth: "member",
  scope: "operations:read",
  params,
  status: 200,
  response: operationEvent,
  mediaType: "text/event-stream",
  errors: ["not_found", "rate_limited"],
});

export const cancelOperation = defineContract({
  method: "POST",
  path: "/operations/{id}/cancel",
  summary: "Cancels an operation that has not begun",
  description:
    "Ends an operation that still waits; no money has moved and held balances are free again. An operation that runs cannot be cancelled and answers 409 `invalid_state`.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "operations:write",
  params,
  status: 200,
  response: operationRecord,
  errors: ["not_found", "invalid_state"],
});

const retriedQuote = quoteRecord
  .extend({
    kind: z
      .literal("quote")
      .meta({ description: "A quote; prepare and execute it like every other" }),
  })
  .meta({ id: "RetriedQuote" });

export const retryOperation = defineContract({
  method: "POST",
  path: "/operations/{id}/retry",
  summary:
    "A fresh quote for the legs that failed or were refunded; it goes the usual way (code, prepare, execute), once. Of a private operation: a new one for what did not arrive, which waits for a code where the caller needs one",
  description:
    "For an operation that failed or was refunded. Answers a fresh quote for the legs that did not arrive: request a code, prepare and execute it as any quote. Nothing moves by this call alone. A private operation starts again by itself, after a code where the caller needs one.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "operations:write",
  params,
  status: 200,
  response: z.discriminatedUnion("kind", [retriedQuote, privateTransferRecord]),
  errors: [
    "not_found",
    "invalid_state",
    "no_route",
    "price_impact_too_high",
    "insufficient_liquidity",
    "insufficient_balance",
    "quote_price_moved",
    "note_spent",
    "chain_unavailable",
    "unknown_wallet",
    "recipient_not_allowed",
    "minimum_not_reached",
    "provider_error",
    "policy_violation",
    "screening_refused",
  ],
});

export const decideRefund = defineContract({
  method: "POST",
  path: "/operations/{id}/legs/{legId}/refund-decision",
  summary: "Decides about a refund that the chains do not show for certain",
  description:
    "For a leg in state `needs_attention`. `refunded` names the transaction that paid the money back: it must have a transfer of the whole amount to the wallet, which no other refund accounts for; the leg then ends as refunded and can be retried. `not_refunded_keep_waiting` sets the payments known so far aside and looks on; without news a person is asked again after a day. Recorded with the name of the person.",
  tag,
  auth: "user",
  permission: "money:move",
  params: params.extend({ legId: id("leg").meta({ description: "Id of the leg" }) }),
  body: z.discriminatedUnion("decision", [
    z
      .object({
        decision: z
          .literal("refunded")
          .meta({ description: "The money is back in the wallet" }),
        txHash: z
          .string()
          .regex(
            /^0x[0-9a-fA-F]{64}$/,
            "Enter a transaction hash: 0x and 64 hexadecimal digits",
          )
          .meta({ description: "Transaction that brought the money back" }),
      })
      .meta({ id: "RefundedDecision" }),
    z
      .object({
        decision: z
          .literal("not_refunded_keep_waiting")
          .meta({ description: "None of the known payments is the refund; look on" }),
      })
      .meta({ id: "NotRefundedDecision" }),
  ]),
  status: 200,
  response: operationRecord,
  errors: ["not_found", "invalid_state", "forbidden", "chain_unavailable", "provider_error"],
});

export const approveOperation = defineContract({
  method: "POST",
  path: "/operations/{id}/approve",
  summary:
    "Lets an operation that awaits approval run; its code comes from POST /swap/request-otp {operationId}",
  description:
    "The code approves exactly this operation: its sources, amounts, recipient and minimum. The operation starts at once and moves the money once. Ask for the code with POST /swap/request-otp {operationId}. Follow it at GET /operations/{id}.",
  tag,
  auth: "user",
  permission: "money:move",
  params,
  body: z.object(proofFields).refine(hasOneProof, oneProofMessage),
  status: 202,
  response: operationRecord,
  errors: [
    "not_found",
    "invalid_state",
    "quote_expired",
    "quote_price_moved",
    "otp_required",
    "otp_invalid",
    "otp_expired",
    "otp_attempts_exceeded",
    "invalid_signature",
    "insufficient_balance",
    "recipient_frozen",
    "wallet_frozen",
    "simulation_failed",
    "sponsor_budget_exceeded",
    "chain_unavailable",
    "recipient_not_allowed",
    "insufficient_reserves",
    "insufficient_liquidity",
    "no_route",
    "price_impact_too_high",
    "minimum_not_reached",
    "note_spent",
    "provider_error",
    "policy_violation",
    "screening_refused",
  ],
});

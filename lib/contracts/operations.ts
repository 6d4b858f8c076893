import { z } from "zod";
import {
  address,
  amountOut,
  chainId,
  failureRecord,
  hex,
  id,
  page,
  pageQuery,
  status,
  subStatus,
  timestamp,
  tokenAmount,
  tokenRecord,
} from "./common";
import { defineContract } from "./contract";
import { privateTransferRecord } from "./privacy";
import { quoteRecord } from "./swap";

const tag = "Operations";

export const OPERATION_KINDS = [
  "swap",
  "transfer",
  "swap_and_transfer",
  "shield",
  "unshield",
  "private_transfer",
  "private_swap",
  "public_exit",
] as const;

export const LEG_STATES = [
  "queued",
  "submitted",
  "source_seen",
  "bridging",
  "filled_seen",
  "refunding",
  "refund_seen",
  "completed",
  "failed",
  "refunded",
] as const;

const transactionRecord = z
  .object({
    chainId,
    txHash: hex.nullable(),
    blockNumber: z.string().nullable(),
    confirmations: z.int(),
    confirmationsNeeded: z.int(),
    explorerUrl: z.string().nullable(),
  })
  .meta({ id: "ChainTransaction" });

export const legRecord = transactionRecord
  .extend({
    id: id("leg"),
    kind: z.enum(["transfer", "swap", "bridge"]),
    status,
    state: z.enum(LEG_STATES),
    walletId: id("wal"),
    walletAddress: address,
    via: z.enum(["user_operation", "transaction", "permit"]).meta({
      description:
        "How it leaves the wallet: a user operation of a smart account, a transaction that the wallet sends itself, or a permit that the treasury uses",
    }),
    sent: tokenAmount,
    spent: tokenAmount.nullable(),
    minimum: tokenAmount,
    received: tokenAmount.nullable(),
    destination: transactionRecord.nullable(),
    refund: transactionRecord.nullable(),
    fillDeadline: timestamp.nullable(),
    failure: failureRecord.nullable(),
  })
  .meta({ id: "Leg" });

/** Where a part of the money is. */
export const holding = z
  .object({
    wallet: z.string().meta({ description: "0x address, or a name such as `across deposit 12`" }),
    chainId,
    token: tokenRecord,
    amount: amountOut,
    amountBase: z.string(),
    txHash: hex.nullable(),
    note: z.string(),
  })
  .meta({ id: "Holding" });

export const operationRecord = z
  .object({
    operationId: id("op"),
    kind: z.enum(OPERATION_KINDS),
    status,
    subStatus,
    quoted: z.object({
      from: z.array(tokenAmount.extend({ address, chainId })),
      to: z.object({ chainId, address, token: tokenRecord, amount: amountOut, minAmount: amountOut }),
    }),
    actual: z.object({ spent: z.array(tokenAmount), received: tokenAmount }),
    legs: z.array(legRecord),
    fees: z
      .array(
        z.object({
          kind: z.enum(["bridge", "swap", "network"]),
          amount: amountOut,
          token: tokenRecord,
          paidBy: z.enum(["sponsor", "wallet"]).optional().meta({
            description: "Of `network` alone: the project's paymaster, or the wallet that sent or executed it",
          }),
        }),
      )
      .meta({
        description:
          "`bridge` and `swap` as quoted, parts of the rate; `network` as the chain took it in its coin, once a leg's source is mined",
      }),
    failure: failureRecord.nullable(),
    outcome: z.object({ holds: z.array(holding), nextAction: z.string() }),
    retryOf: id("op").nullable().meta({ description: "The operation whose failed or refunded legs this tries again" }),
    retriedBy: id("op")
      .nullable()
      .meta({ description: "The operation that tried this one's failed or refunded legs again" }),
    may: z
      .object({ cancel: z.boolean(), retry: z.boolean(), approve: z.boolean() })
      .meta({ description: "What can be asked of it now" }),
    createdBy: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
    expiresAt: timestamp.nullable(),
  })
  .meta({ id: "Operation" });

const operationFilters = {
  private: z.enum(["exclude"]).optional().meta({ description: "`exclude` leaves private operations out" }),
  status: status.optional(),
  kind: z.enum(OPERATION_KINDS).optional(),
  chainId: z.coerce.number().int().positive().optional().meta({ description: "Source or destination chain" }),
  walletId: id("wal").optional(),
  from: timestamp.optional().meta({ description: "Created at or after" }),
  to: timestamp.optional().meta({ description: "Created before" }),
  q: z.string().trim().min(1).max(120).optional().meta({
    description: "An operation or transfer id, a 0x address, a transaction hash, or a token symbol",
  }),
};

export const listOperations = defineContract({
  method: "GET",
  path: "/operations",
  summary: "Everything that moves money, newest first",
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
  tag,
  auth: "member",
  scope: "operations:read",
  query: z.object(operationFilters),
  status: 200,
  response: z.string(),
  mediaType: "text/csv",
});

const params = z.object({ id: id("op") });

export const getOperation = defineContract({
  method: "GET",
  path: "/operations/{id}",
  summary: "One operation: its legs, and where each part of the money is",
  tag,
  auth: "member",
  scope: "operations:read",
  params,
  status: 200,
  response: operationRecord,
  errors: ["not_found"],
});

export const operationEvent = z
  .object({
    seq: z.int(),
    type: z.string().meta({ description: "operation.created, leg.submitted, leg.source_seen, operation.completed …" }),
    operationId: id("op"),
    data: z.record(z.string(), z.unknown()),
    createdAt: timestamp,
  })
  .meta({ id: "OperationEvent" });

export const streamOperationEvents = defineContract({
  method: "GET",
  path: "/operations/{id}/events",
  summary:
    "Events as a stream (server-sent events); `Last-Event-ID` resumes after that seq; ends when the operation is final, or within a second when the credential ends. At most 50 at once for each caller and 200 for each network address",
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
  tag,
  auth: "member",
  scope: "operations:write",
  params,
  status: 200,
  response: operationRecord,
  errors: ["not_found", "invalid_state"],
});

export const retryOperation = defineContract({
  method: "POST",
  path: "/operations/{id}/retry",
  summary:
    "A fresh quote for the legs that failed or were refunded; it goes the usual way (code, prepare, execute), once. Of a private operation: a new one for what did not arrive, which waits for a code where the caller needs one",
  tag,
  auth: "member",
  scope: "operations:write",
  params,
  status: 200,
  response: z.union([quoteRecord, privateTransferRecord]),
  errors: [
    "not_found",
    "invalid_state",
    "no_route",
    "insufficient_liquidity",
    "insufficient_balance",
    "quote_price_moved",
    "note_spent",
    "chain_unavailable",
  ],
});

export const approveOperation = defineContract({
  method: "POST",
  path: "/operations/{id}/approve",
  summary: "Lets an operation that awaits approval run; its code comes from POST /swap/request-otp {operationId}",
  tag,
  auth: "user",
  params,
  body: z.object({ otp: z.string().regex(/^[0-9]{6}$/, "must be 6 digits") }),
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
    "insufficient_balance",
    "simulation_failed",
    "sponsor_budget_exceeded",
    "chain_unavailable",
  ],
});

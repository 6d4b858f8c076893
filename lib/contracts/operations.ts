import { z } from "zod";
import {
  address,
  amountOut,
  chainId,
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

const tag = "Operations";

export const OPERATION_KINDS = ["swap", "transfer", "swap_and_transfer"] as const;

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

const transactionRecord = z.object({
  chainId,
  txHash: hex.nullable(),
  blockNumber: z.string().nullable(),
  confirmations: z.int(),
  confirmationsNeeded: z.int(),
  explorerUrl: z.string().nullable(),
});

export const failureRecord = z.object({ code: z.string(), message: z.string(), retryable: z.boolean() });

export const legRecord = transactionRecord.extend({
  id: id("leg"),
  kind: z.enum(["transfer", "swap", "bridge"]),
  status,
  state: z.enum(LEG_STATES),
  walletId: id("wal"),
  walletAddress: address,
  sent: tokenAmount,
  spent: tokenAmount.nullable(),
  minimum: tokenAmount,
  received: tokenAmount.nullable(),
  destination: transactionRecord.nullable(),
  refund: transactionRecord.nullable(),
  fillDeadline: timestamp.nullable(),
  failure: failureRecord.nullable(),
});

/** Where a part of the money is. */
export const holding = z.object({
  wallet: z.string().meta({ description: "0x address, or a name such as `across deposit 12`" }),
  chainId,
  token: tokenRecord,
  amount: amountOut,
  amountBase: z.string(),
  txHash: hex.nullable(),
  note: z.string(),
});

export const operationRecord = z.object({
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
  fees: z.array(z.object({ kind: z.enum(["bridge", "swap", "gas"]), amount: amountOut, token: tokenRecord })),
  failure: failureRecord.nullable(),
  outcome: z.object({ holds: z.array(holding), nextAction: z.string() }),
  createdBy: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
  expiresAt: timestamp.nullable(),
});

export const listOperations = defineContract({
  method: "GET",
  path: "/operations",
  summary: "Everything that moves money, newest first",
  tag,
  auth: "member",
  scope: "operations:read",
  query: pageQuery.extend({ status: status.optional(), kind: z.enum(OPERATION_KINDS).optional() }),
  status: 200,
  response: page(operationRecord),
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

export const operationEvent = z.object({
  seq: z.int(),
  type: z.string().meta({ description: "operation.created, leg.submitted, leg.source_seen, operation.completed …" }),
  operationId: id("op"),
  data: z.record(z.string(), z.unknown()),
  createdAt: timestamp,
});

export const streamOperationEvents = defineContract({
  method: "GET",
  path: "/operations/{id}/events",
  summary:
    "Events as a stream (server-sent events); `Last-Event-ID` resumes after that seq; ends when the operation is final",
  tag,
  auth: "member",
  scope: "operations:read",
  params,
  status: 200,
  response: operationEvent,
  mediaType: "text/event-stream",
  errors: ["not_found"],
});

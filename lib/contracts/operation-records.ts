/** Operations as they are read: their legs, and where the money is. */
import { z } from "zod";
import {
  address,
  amountOut,
  chainId,
  failureRecord,
  hex,
  id,
  status,
  subStatus,
  timestamp,
  tokenAmount,
  tokenRecord,
} from "./common";

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

export const operationEvent = z
  .object({
    seq: z.int(),
    type: z.string().meta({ description: "operation.created, leg.submitted, leg.source_seen, operation.completed …" }),
    operationId: id("op"),
    data: z.record(z.string(), z.unknown()),
    createdAt: timestamp,
  })
  .meta({ id: "OperationEvent" });

/** Operations in responses: their legs, and where the money is. */
import { z } from "zod";
import { OPERATION_KINDS } from "@/lib/core/movement-kinds";
import {
  address,
  amountOut,
  chainId,
  failureRecord,
  hex,
  id,
  jsonObject,
  status,
  subStatus,
  timestamp,
  tokenAmount,
  tokenRecord,
} from "./common";
import { depositRecord } from "./deposit-records";
import { gasWaitRecord } from "./gas-wait";
import { outcomeRecord } from "./outcome";
import { balanceChange } from "./quote-records";

export { OPERATION_KINDS };

export const LEG_STATES = [
  "queued",
  "submitted",
  "source_seen",
  "bridging",
  "filled_seen",
  "refunding",
  "refund_seen",
  "needs_attention",
  "completed",
  "failed",
  "refunded",
] as const;

const transactionRecord = z
  .object({
    chainId,
    txHash: hex
      .nullable()
      .meta({ description: "Hash of the transaction, 32 bytes; null where none was sent yet" }),
    blockNumber: z.string().nullable().meta({
      description: "Number of the block, a decimal string; null where it is not mined",
    }),
    confirmations: z
      .int()
      .meta({ description: "Blocks on top of the transaction's block, that block included" }),
    confirmationsNeeded: z
      .int()
      .meta({ description: "Confirmations at which it counts as final" }),
    explorerUrl: z
      .string()
      .nullable()
      .meta({ description: "Page of the chain's explorer; null where the chain has none" }),
  })
  .meta({ id: "ChainTransaction" });

const refundAttentionRecord = z
  .object({
    reason: z.enum(["unclear_payment", "overdue"]).meta({
      description:
        "`unclear_payment`: a payment may be the refund; `overdue`: none came within a day",
    }),
    message: z.string().meta({ description: "What is known, and what to do, in words" }),
    expected: tokenAmount.meta({ description: "What the bridge owes for this leg" }),
    depositTxHash: hex
      .nullable()
      .meta({ description: "The transaction that made the deposit" }),
    payments: z
      .array(
        z.object({
          chainId,
          txHash: hex.meta({ description: "Transaction of the payment" }),
          explorerUrl: z
            .string()
            .nullable()
            .meta({ description: "Its page in the chain's explorer; null without one" }),
          paid: tokenAmount.meta({ description: "What it paid to the wallet" }),
          reason: z
            .string()
            .meta({ description: "Why it is not certain that it is this leg's refund" }),
        }),
      )
      .meta({ description: "Payments of the bridge to the wallet that may be the refund" }),
    setAside: z
      .int()
      .meta({ description: "How many payments a person said are not the refund" }),
  })
  .meta({ id: "RefundAttention" });

export const legRecord = transactionRecord
  .extend({
    id: id("leg").meta({ description: "Id of the leg" }),
    provider: z
      .string()
      .meta({ description: "Id of the routing provider that carries the leg out" }),
    kind: z.enum(["transfer", "swap", "bridge"]).meta({
      description: "`transfer` and `swap` stay on one chain; `bridge` crosses chains",
    }),
    status,
    state: z.enum(LEG_STATES).meta({ description: "How far the leg is" }),
    walletId: id("wal").meta({ description: "Wallet that the money leaves" }),
    walletAddress: address.meta({ description: "Address of that wallet" }),
    via: z.enum(["user_operation", "transaction", "permit"]).meta({
      description:
        "How it leaves the wallet: a user operation of a smart account, a transaction that the wallet sends itself, or a permit that the treasury uses",
    }),
    route: z
      .object({
        estimatedSeconds: z
          .int()
          .meta({ description: "Expected time from execute to arrival, in seconds" }),
        steps: z
          .array(
            z.object({
              kind: z
                .enum(["swap", "bridge", "transfer"])
                .meta({ description: "What the step does" }),
              venue: z.string().meta({ description: "Exchange or bridge that does it" }),
            }),
          )
          .meta({ description: "What happens to the money on its way, in order" }),
      })
      .meta({ description: "The way of this leg, as quoted" }),
    sent: tokenAmount.meta({ description: "What was approved to leave the wallet" }),
    spent: tokenAmount.nullable().meta({
      description: "What left the wallet, as the chain shows it; null before it is mined",
    }),
    minimum: tokenAmount.meta({ description: "The least that must arrive" }),
    received: tokenAmount
      .nullable()
      .meta({ description: "What arrived, as the chain shows it; null before it did" }),
    destination: transactionRecord.nullable().meta({
      description:
        "Transaction on the destination chain; null where the leg stays on one chain or nothing arrived yet",
    }),
    refund: transactionRecord
      .nullable()
      .meta({ description: "Transaction that brought the money back; null where none did" }),
    fillDeadline: timestamp.nullable().meta({
      description:
        "Until when a bridge must deliver; afterwards the money comes back. Null where the leg stays on one chain",
    }),
    attention: refundAttentionRecord.nullable().meta({
      description:
        "What is known of its refund while `state` is `needs_attention`; POST …/legs/{legId}/refund-decision settles it. Null otherwise",
    }),
    failure: failureRecord
      .nullable()
      .meta({ description: "Why it failed; null where it did not" }),
  })
  .meta({ id: "Leg" });

export const operationRecord = z
  .object({
    id: id("op").meta({ description: "Id of the operation" }),
    operationId: id("op").meta({ description: "The same as `id`" }),
    kind: z.enum(OPERATION_KINDS).meta({ description: "What the operation does" }),
    status,
    subStatus,
    quoted: z
      .object({
        from: z
          .array(tokenAmount.extend({ address, chainId }))
          .meta({ description: "What leaves which wallet" }),
        to: z
          .object({
            chainId,
            address,
            token: tokenRecord.meta({ description: "The token that arrives" }),
            amount: amountOut.meta({ description: "Expected amount" }),
            minAmount: amountOut.meta({
              description: "The least that arrives; enforced on chain",
            }),
          })
          .meta({ description: "What arrives where" }),
        balanceChanges: z.array(balanceChange).meta({
          description:
            "Change of each balance in the simulation of prepare, while the operation waits for votes; empty otherwise",
        }),
      })
      .meta({ description: "What was approved" }),
    actual: z
      .object({
        spent: z.array(tokenAmount).meta({ description: "What left the wallets" }),
        received: tokenAmount.meta({ description: "What arrived" }),
      })
      .meta({ description: "What has happened so far, as the chains show it" }),
    legs: z.array(legRecord).meta({ description: "One for each source" }),
    deposit: depositRecord.nullable().meta({
      description:
        "Of kind `deposit`: who sent it, its screening and how it stands. Null for other kinds",
    }),
    fees: z
      .array(
        z.object({
          kind: z
            .enum(["bridge", "swap", "network"])
            .meta({ description: "What the fee is for" }),
          amount: amountOut.meta({ description: "Amount in units of the fee's token" }),
          token: tokenRecord.meta({ description: "The token" }),
          paidBy: z.enum(["sponsor", "wallet"]).optional().meta({
            description:
              "Of `network` alone: the project's paymaster, or the wallet that sent or executed it",
          }),
        }),
      )
      .meta({
        description:
          "`bridge` and `swap` as quoted, parts of the rate; `network` as the chain took it in its coin, once a leg's source is mined",
      }),
    failure: failureRecord
      .nullable()
      .meta({ description: "Why it failed; null where it did not" }),
    waitsForGas: z.array(gasWaitRecord).meta({
      description:
        "Chains that ask for a higher network fee than the service pays; the operation goes on when it falls",
    }),
    outcome: outcomeRecord,
    evaluationId: id("evl").nullable().meta({
      description:
        "The evaluation of the policies that let it run; null while it awaits approval",
    }),
    retryOf: id("op")
      .nullable()
      .meta({ description: "The operation whose failed or refunded legs this tries again" }),
    retriedBy: id("op").nullable().meta({
      description: "The operation that tried this one's failed or refunded legs again",
    }),
    may: z
      .object({
        cancel: z.boolean().meta({ description: "Whether POST …/cancel is possible" }),
        retry: z.boolean().meta({ description: "Whether POST …/retry is possible" }),
        approve: z.boolean().meta({ description: "Whether POST …/approve is possible" }),
      })
      .meta({ description: "What can be asked of it now" }),
    createdBy: z.string().meta({
      description:
        "Who created it: a person (usr_), an API key (key_) or a part of the service",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    updatedAt: timestamp.meta({ description: "When it last changed" }),
    expiresAt: timestamp
      .nullable()
      .meta({ description: "Until when it can be approved; null where nothing waits" }),
  })
  .meta({ id: "Operation" });

export const operationEvent = z
  .object({
    seq: z
      .int()
      .meta({ description: "1, 2, 3 … in the operation; `Last-Event-ID` resumes after it" }),
    type: z.string().meta({
      description: "operation.created, leg.submitted, leg.source_seen, operation.completed …",
    }),
    operationId: id("op").meta({ description: "The operation" }),
    data: jsonObject.meta({ description: "What changed" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
  })
  .meta({ id: "OperationEvent" });

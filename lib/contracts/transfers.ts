import { z } from "zod";
import { STATUSES } from "@/lib/core/status";
import {
  address,
  amount,
  amountOut,
  chainId,
  id,
  page,
  pageQuery,
  status,
  subStatus,
  timestamp,
  tokenAmount,
  tokenRef,
  failureRecord,
  createdBetween,
  listOf,
  chainIds,
  idsOf,
} from "./common";
import { outcomeRecord } from "./outcome";
import { defineContract } from "./contract";
import { maxPriceImpactBps, minAmount, SLIPPAGE_BPS_DEFAULT, SLIPPAGE_BPS_MAX } from "./swap";
import { networkFeePaidBy, quoteRecord } from "./quote-records";

const tag = "Transfers";

export const transferRecord = z
  .object({
    id: id("tr").meta({ description: "Id of the transfer" }),
    transferId: id("tr").meta({ description: "The same as `id`" }),
    status,
    subStatus,
    fromWalletId: id("wal").meta({ description: "Wallet that pays" }),
    fromAddress: address.meta({ description: "Address of that wallet" }),
    fromChainId: chainId.meta({ description: "Chain that the money leaves" }),
    toChainId: chainId.meta({ description: "Chain on which it arrives" }),
    toAddress: address.meta({ description: "Address that receives" }),
    sent: tokenAmount.meta({ description: "What leaves the wallet" }),
    expected: tokenAmount.meta({ description: "What is expected to arrive, fees taken off" }),
    minimum: tokenAmount.meta({
      description:
        "What the approval promises: enforced on chain across chains; on one chain what the token's own transfer brings when it is tried before",
    }),
    received: tokenAmount
      .nullable()
      .meta({ description: "What arrived, as the chain shows it" }),
    fees: quoteRecord.shape.fees.meta({
      description: "Fees; those of bridges are a part of the rate",
    }),
    networkFeePaidBy,
    estimatedSeconds: quoteRecord.shape.estimatedSeconds.meta({
      description: "Expected time from execute to arrival, in seconds",
    }),
    steps: quoteRecord.shape.steps.meta({
      description: "What happens to the money on its way, as quoted, in order",
    }),
    warnings: quoteRecord.shape.warnings.meta({
      description: "What a person should know before approving",
    }),
    votes: quoteRecord.shape.votes,
    operationId: id("op")
      .nullable()
      .meta({ description: "The operation that carries it out; null before it is executed" }),
    failure: failureRecord
      .nullable()
      .meta({ description: "Why it failed; null where it did not" }),
    outcome: outcomeRecord.nullable().meta({
      description: "Where the money is, and what to do next; null before it is executed",
    }),
    createdBy: z.string().meta({
      description:
        "Who created it: a person (usr_), an API key (key_) or a part of the service",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    updatedAt: timestamp.meta({ description: "When it last changed" }),
    expiresAt: timestamp
      .nullable()
      .meta({ description: "Until when it can be executed; null once it was" }),
  })
  .meta({ id: "Transfer" });

export const createTransfer = defineContract({
  method: "POST",
  path: "/transfers",
  summary: "Prepares to send a token from one wallet to an address, on one chain or across two",
  description:
    "Prices a transfer and checks the recipient; nothing is held and nothing moves. Next: POST /swap/request-otp, /swap/prepare and /swap/execute with the transferId. Send an Idempotency-Key, otherwise a repeated call makes a second transfer.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "transfers:write",
  body: z.object({
    fromWalletId: id("wal").meta({ description: "Wallet of GET /wallets that pays" }),
    toAddress: address.meta({ description: "Address that receives" }),
    fromChainId: chainId.meta({ description: "Chain that the money leaves" }),
    toChainId: chainId.meta({
      description: "Chain on which it arrives; the same one for a transfer on one chain",
    }),
    token: tokenRef.meta({ description: "The token to send; the same asset arrives" }),
    amount,
    minAmount,
    maxPriceImpactBps,
  }),
  status: 201,
  response: transferRecord,
  errors: [
    "invalid_request",
    "unknown_wallet",
    "recipient_not_allowed",
    "policy_violation",
    "screening_refused",
    "unsupported_chain",
    "unsupported_token",
    "amount_precision",
    "no_route",
    "price_impact_too_high",
    "minimum_not_reached",
    "insufficient_liquidity",
    "chain_unavailable",
  ],
});

export const listTransfers = defineContract({
  method: "GET",
  path: "/transfers",
  summary: "Transfers of the project, newest first",
  description:
    "Filter by status, chain, wallet and time; read further pages with `cursor`. A transfer that nobody executed in time is `expired`.",
  tag,
  auth: "member",
  scope: "transfers:read",
  query: pageQuery.extend({
    status: listOf(STATUSES)
      .optional()
      .meta({ description: "Only these statuses, separated by commas" }),
    chainId: chainIds.optional().meta({
      description: "Source or destination on one of these chains, separated by commas",
    }),
    walletId: idsOf("wal")
      .optional()
      .meta({ description: "Paid by one of these wallets, separated by commas" }),
    ...createdBetween,
  }),
  status: 200,
  response: page(transferRecord),
});

export const getTransfer = defineContract({
  method: "GET",
  path: "/transfers/{id}",
  summary: "One transfer, and where its money is",
  description:
    "Shows the status, what was sent, what arrived and where the money is. After execute, GET /operations/{id} has the single steps.",
  tag,
  auth: "member",
  scope: "transfers:read",
  params: z.object({ id: id("tr").meta({ description: "The transfer" }) }),
  status: 200,
  response: transferRecord,
  errors: ["not_found"],
});

export const cancelTransfer = defineContract({
  method: "POST",
  path: "/transfers/{id}/cancel",
  summary:
    "Ends a transfer that was not executed; nothing moves. Once executed, its operation may be cancelled",
  description:
    "Ends a transfer that was not executed. Nothing has moved and nothing moves. Cancelling again answers the same.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "transfers:write",
  params: z.object({ id: id("tr").meta({ description: "The transfer" }) }),
  status: 200,
  response: transferRecord,
  errors: ["not_found", "invalid_state", "quote_already_used", "chain_unavailable"],
});

export const swapAndTransfer = defineContract({
  method: "POST",
  path: "/swap-and-transfer",
  summary:
    "Swaps and sends in one call from a managed wallet; above the caller's policy it waits for approval",
  description:
    "Quotes, prepares and executes in one call, from a wallet that the service signs for. A key within its policy moves the money at once; above it, and for people, the operation waits as `awaiting_approval`. Send an Idempotency-Key: without it a repeated call pays twice.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "swaps:write",
  body: z.object({
    fromWalletId: id("wal").meta({ description: "Managed wallet of GET /wallets that pays" }),
    fromChainId: chainId.meta({ description: "Chain that the money leaves" }),
    toChainId: chainId.meta({ description: "Chain on which it arrives" }),
    fromToken: tokenRef.meta({ description: "Token that leaves the wallet" }),
    toToken: tokenRef.meta({ description: "Token that arrives" }),
    amount,
    recipient: address.meta({ description: "Address that receives" }),
    slippageBps: z.int().min(0).max(SLIPPAGE_BPS_MAX).default(SLIPPAGE_BPS_DEFAULT).meta({
      description:
        "How far the result may fall below the expected one, in basis points (1/100 %)",
    }),
    minAmount,
    maxPriceImpactBps,
  }),
  status: 202,
  response: z.object({
    operationId: id("op").meta({ description: "The operation; read it at /operations/{id}" }),
    status,
    subStatus,
    minimum: amountOut.meta({ description: "In units of toToken; enforced on chain" }),
    expiresAt: timestamp
      .nullable()
      .meta({ description: "Until when it can be approved; null where it runs already" }),
    warnings: quoteRecord.shape.warnings.meta({
      description:
        "What the quote warned about when it was priced, such as a price far below that of the feeds",
    }),
  }),
  errors: [
    "invalid_request",
    "unknown_wallet",
    "invalid_state",
    "recipient_not_allowed",
    "policy_violation",
    "screening_refused",
    "insufficient_balance",
    "unsupported_chain",
    "unsupported_token",
    "amount_precision",
    "no_route",
    "price_impact_too_high",
    "minimum_not_reached",
    "insufficient_liquidity",
    "recipient_frozen",
    "wallet_frozen",
    "simulation_failed",
    "sponsor_budget_exceeded",
    "chain_unavailable",
    "idempotency_mismatch",
    "insufficient_reserves",
    "provider_error",
  ],
});

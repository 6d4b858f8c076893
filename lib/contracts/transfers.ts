import { z } from "zod";
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
} from "./common";
import { defineContract } from "./contract";
import { operationRecord } from "./operation-records";
import { SLIPPAGE_BPS_DEFAULT, SLIPPAGE_BPS_MAX } from "./swap";
import { networkFeePaidBy, quoteRecord } from "./quote-records";

const tag = "Transfers";

export const transferRecord = z
  .object({
    transferId: id("tr"),
    status,
    subStatus,
    fromWalletId: id("wal"),
    fromAddress: address,
    fromChainId: chainId,
    toChainId: chainId,
    toAddress: address,
    sent: tokenAmount,
    expected: tokenAmount.meta({ description: "What is expected to arrive, fees taken off" }),
    minimum: tokenAmount.meta({
      description:
        "What the approval promises: enforced on chain across chains; on one chain what the token's own transfer brings when it is tried before",
    }),
    received: tokenAmount.nullable().meta({ description: "What arrived, as the chain shows it" }),
    fees: quoteRecord.shape.fees,
    networkFeePaidBy,
    estimatedSeconds: quoteRecord.shape.estimatedSeconds,
    warnings: quoteRecord.shape.warnings,
    operationId: id("op").nullable(),
    failure: failureRecord.nullable(),
    outcome: operationRecord.shape.outcome.nullable(),
    createdBy: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
    expiresAt: timestamp.nullable().meta({ description: "Until when it can be executed; null once it was" }),
  })
  .meta({ id: "Transfer" });

export const createTransfer = defineContract({
  method: "POST",
  path: "/transfers",
  summary: "Prepares to send a token from one wallet to an address, on one chain or across two",
  tag,
  auth: "member",
  scope: "transfers:write",
  body: z.object({
    fromWalletId: id("wal"),
    toAddress: address,
    fromChainId: chainId,
    toChainId: chainId,
    token: tokenRef,
    amount,
  }),
  status: 201,
  response: transferRecord,
  errors: [
    "invalid_request",
    "unknown_wallet",
    "recipient_not_allowed",
    "unsupported_chain",
    "unsupported_token",
    "amount_precision",
    "no_route",
    "insufficient_liquidity",
    "chain_unavailable",
  ],
});

export const listTransfers = defineContract({
  method: "GET",
  path: "/transfers",
  summary: "Transfers of the project, newest first",
  tag,
  auth: "member",
  scope: "transfers:read",
  query: pageQuery,
  status: 200,
  response: page(transferRecord),
});

export const getTransfer = defineContract({
  method: "GET",
  path: "/transfers/{id}",
  summary: "One transfer, and where its money is",
  tag,
  auth: "member",
  scope: "transfers:read",
  params: z.object({ id: id("tr") }),
  status: 200,
  response: transferRecord,
  errors: ["not_found"],
});

export const cancelTransfer = defineContract({
  method: "POST",
  path: "/transfers/{id}/cancel",
  summary: "Ends a transfer that was not executed; nothing moves. Once executed, its operation may be cancelled",
  tag,
  auth: "member",
  scope: "transfers:write",
  params: z.object({ id: id("tr") }),
  status: 200,
  response: transferRecord,
  errors: ["not_found", "invalid_state", "quote_already_used", "chain_unavailable"],
});

export const swapAndTransfer = defineContract({
  method: "POST",
  path: "/swap-and-transfer",
  summary: "Swaps and sends in one call from a managed wallet; above the caller's policy it waits for approval",
  tag,
  auth: "member",
  scope: "swaps:write",
  body: z.object({
    fromWalletId: id("wal"),
    fromChainId: chainId,
    toChainId: chainId,
    fromToken: tokenRef,
    toToken: tokenRef,
    amount,
    recipient: address,
    slippageBps: z.int().min(0).max(SLIPPAGE_BPS_MAX).default(SLIPPAGE_BPS_DEFAULT),
  }),
  status: 202,
  response: z.object({
    operationId: id("op"),
    status,
    subStatus,
    minimum: amountOut.meta({ description: "In units of toToken; enforced on chain" }),
    expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved; null where it runs already" }),
  }),
  errors: [
    "invalid_request",
    "unknown_wallet",
    "invalid_state",
    "recipient_not_allowed",
    "insufficient_balance",
    "unsupported_chain",
    "unsupported_token",
    "amount_precision",
    "no_route",
    "insufficient_liquidity",
    "simulation_failed",
    "sponsor_budget_exceeded",
    "chain_unavailable",
    "idempotency_mismatch",
  ],
});

/** Private swaps between two pools of a chain: quote, prepare, execute. */
import { z } from "zod";
import { amount, chainId, id, timestamp, tokenAmount, tokenRef } from "./common";
import { defineContract } from "./contract";
import { honesty, privateTransferRecord } from "./privacy-records";
import { hasOneProof, hasOneProofAtMost, oneProofMessage, proofFields } from "./proofs";
import { SLIPPAGE_BPS_DEFAULT, SLIPPAGE_BPS_MAX } from "./swap";

const tag = "Privacy";

export const quotePrivateSwap = defineContract({
  method: "POST",
  path: "/privacy/swap/quote",
  summary: "Prices a swap between two pools of a chain",
  description:
    "Prices a swap of a private balance. Nothing is held and nothing moves. Prepare and execute the quote before it expires.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "privacy:write",
  body: z.object({
    chainId,
    fromToken: tokenRef.meta({ description: "Token of the pool that pays" }),
    toToken: tokenRef.meta({ description: "Token of the pool that receives" }),
    amount,
    slippageBps: z.int().min(0).max(SLIPPAGE_BPS_MAX).default(SLIPPAGE_BPS_DEFAULT).meta({
      description:
        "How far the result may fall below the expected one, in basis points (1/100 %)",
    }),
  }),
  status: 200,
  response: z.object({
    id: id("qt").meta({ description: "Id of the quote" }),
    quoteId: id("qt").meta({ description: "The same as `id`; goes into prepare and execute" }),
    expiresAt: timestamp.meta({ description: "Until when it can be executed" }),
    from: tokenAmount.meta({ description: "What is swapped" }),
    expected: tokenAmount.meta({ description: "What the new note is worth" }),
    minimum: tokenAmount.meta({
      description: "What it is worth at least: enforced on chain, as a part of the proof",
    }),
    poolFee: tokenAmount.meta({ description: "What the receiving pool keeps" }),
    ...honesty,
  }),
  errors: [
    "invalid_request",
    "unsupported_chain",
    "unsupported_token",
    "unknown_pool",
    "below_pool_minimum",
    "amount_precision",
    "no_route",
    "chain_unavailable",
    "insufficient_liquidity",
    "provider_error",
    "policy_violation",
    "screening_refused",
  ],
});

const quoteId = id("qt");

export const preparePrivateSwap = defineContract({
  method: "POST",
  path: "/privacy/swap/prepare",
  summary:
    "Approves a private swap with its code, or chooses the private wallet that it spends from",
  description:
    "Approves the quote with the code of POST /swap/request-otp {quoteId}, or chooses the private wallet. Nothing moves. Execute it next.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "privacy:write",
  body: z
    .object({
      quoteId,
      ...proofFields,
      privacyWalletId: id("pw").optional().meta({
        description: "Private wallet to spend from. Default: the project's default one",
      }),
    })
    .refine(hasOneProofAtMost, oneProofMessage)
    .refine((given) => hasOneProof(given) || given.privacyWalletId !== undefined, {
      message: "name otp, totp or privacyWalletId",
      path: ["otp"],
    }),
  status: 200,
  response: z.object({
    prepared: z.literal(true).meta({ description: "Always true" }),
    quoteId,
    expiresAt: timestamp.meta({ description: "Until when it can be executed" }),
    privacyWalletId: id("pw").meta({ description: "Private wallet that it spends from" }),
    approved: z
      .boolean()
      .meta({ description: "False: execute waits for a code where the caller needs one" }),
  }),
  errors: [
    "not_found",
    "unknown_privacy_wallet",
    "quote_expired",
    "quote_already_used",
    "otp_required",
    "otp_invalid",
    "otp_expired",
    "otp_attempts_exceeded",
    "invalid_state",
    "invalid_signature",
    "policy_violation",
    "screening_refused",
  ],
});

export const executePrivateSwap = defineContract({
  method: "POST",
  path: "/privacy/swap/execute",
  summary: "Swaps, once: withdrawal, swap and deposit in one transaction",
  description:
    "Starts the swap that was quoted, once for each quote: later calls answer the same transfer. A proof is made before the transaction (`proof.secondsLeft` says how long it takes); the pool and the relayer keep their fees. It waits for a code where the caller needs one. Follow GET /privacy/transfers/{id}.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "privacy:write",
  body: z.object({ quoteId }),
  status: 202,
  response: privateTransferRecord,
  errors: [
    "not_found",
    "invalid_state",
    "quote_expired",
    "insufficient_balance",
    "note_spent",
    "recipient_frozen",
    "wallet_frozen",
    "provider_error",
    "chain_unavailable",
    "unknown_privacy_wallet",
    "idempotency_mismatch",
    "policy_violation",
    "screening_refused",
  ],
});

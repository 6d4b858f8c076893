import { z } from "zod";
import {
  address,
  amount,
  chainId,
  hex,
  id,
  status,
  subStatus,
  timestamp,
  tokenRef,
} from "./common";
import { defineContract } from "./contract";
import { hasOneProofAtMost, oneProofMessage, proofFields } from "./proofs";
import { passkeyRequest } from "./passkey-records";
import { action, balanceChange, feePayer, quoteRecord } from "./quote-records";

const tag = "Swaps";

export const SOURCES_MAX = 10;

/**
 * A source needs at most six transactions: two allowances, each reset first, a swap and a deposit.
 */
const SIGNATURES_MAX = SOURCES_MAX * 6;

export const SLIPPAGE_BPS_DEFAULT = 50;

export const SLIPPAGE_BPS_MAX = 1000;

/** The price impact that the caller accepts. Without this field the service accepts 1,500. */
export const maxPriceImpactBps = z.int().min(0).max(10_000).optional().meta({
  description:
    "How much less than the sent amount is worth may arrive, fees included, in basis points; by prices that are independent of the pools. Without it more than 1500 is refused",
});

export const minAmount = amount.optional().meta({
  description:
    "The least that has to arrive, in units of the token that arrives, where slippage would allow less",
});

export const quoteSource = z
  .object({
    address,
    chainId,
    token: tokenRef.meta({ description: "The token to take" }),
    amount,
  })
  .meta({ id: "QuoteSource" });

export const quoteBody = z.object({
  from: z
    .array(quoteSource)
    .min(1)
    .max(SOURCES_MAX)
    .meta({ description: "1–10 sources, no two of the same wallet, chain and token" }),
  toChainId: chainId.meta({ description: "Chain on which it arrives" }),
  toToken: tokenRef.meta({ description: "Token that arrives" }),
  toAddress: address.meta({ description: "Address that receives" }),
  slippageBps: z.int().min(0).max(SLIPPAGE_BPS_MAX).default(SLIPPAGE_BPS_DEFAULT).meta({
    description:
      "How far the result may fall below the expected one, in basis points (1/100 %); above 300 the quote warns",
  }),
  maxPriceImpactBps,
  routeId: z.string().min(1).max(40).optional().meta({
    description:
      "Takes this route of an earlier quote for the same tokens, `routeId` of one of its `alternatives`, however much it brings now; without it the route that brings most is taken. `no_route` when it is not offered any more",
  }),
});

export const createQuote = defineContract({
  method: "POST",
  path: "/swap/quote",
  summary: "Prices a swap or transfer from up to ten sources to one destination",
  description:
    "First step of a swap. Finds the best route and prices it; nothing is held and nothing moves. The quote is valid for 300 seconds. Next: request a code, prepare, execute. A caller may ask for as many quotes as the rate limit allows.",
  tag,
  auth: "member",
  permission: "money:move",
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
    "price_impact_too_high",
    "recipient_not_allowed",
    "insufficient_liquidity",
    "chain_unavailable",
    "policy_violation",
    "screening_refused",
  ],
  inputErrorsAs400: true,
});

const subject = z.object({
  quoteId: id("qt").optional().meta({ description: "The quote; either this or transferId" }),
  transferId: id("tr").optional().meta({ description: "The transfer; either this or quoteId" }),
});

const oneSubject = (value: {
  quoteId?: string | undefined;
  transferId?: string | undefined;
}): boolean => (value.quoteId === undefined) !== (value.transferId === undefined);

const oneSubjectMessage = { message: "name either quoteId or transferId", path: ["quoteId"] };

const sentCode = z
  .object({
    otpId: id("otp").meta({ description: "Id of the code" }),
    channel: z
      .enum(["email", "totp", "passkey"])
      .meta({ description: "How the code reaches the person, or `passkey`" }),
    destination: z.string().meta({ description: "Masked" }),
    expiresAt: timestamp.meta({ description: "Until when the code can be used" }),
    resendAfter: timestamp.meta({ description: "From when another code can be asked for" }),
    passkey: passkeyRequest.optional(),
  })
  .meta({ id: "SentCode", description: "A code that was sent, or the challenge of a passkey" });

export const requestOtp = defineContract({
  method: "POST",
  path: "/swap/request-otp",
  summary:
    "Sends the one-time code that approves exactly this quote, transfer, waiting operation, payout, schedule or change. A key asks for codes of quotes and transfers alone, with the scope that moves them",
  description:
    "Second step. Sends a one-time code that approves exactly what is named and nothing else. The code is valid for 5 minutes and five attempts; a new one can be requested after 60 seconds and replaces the old one. Nothing moves. Operations, payouts and schedules that wait are approved by a signed-in member, so an API key that asks for their code is answered 403 and nothing is mailed.",
  tag,
  auth: "member",
  scope: [
    "swaps:write",
    "transfers:write",
    "operations:write",
    "payouts:write",
    "privacy:write",
  ],
  // Viewers need codes to approve a change of their own e-mail address. The service refuses them
  // codes that move money.
  personal: true,
  body: subject
    .extend({
      operationId: id("op")
        .optional()
        .meta({ description: "An operation that awaits approval" }),
      payoutId: id("po").optional().meta({ description: "A payout that awaits approval" }),
      scheduleId: id("sch")
        .optional()
        .meta({ description: "A payout schedule that awaits approval" }),
      approvalId: id("apr").optional().meta({ description: "Of a 409 `approval_required`" }),
      channel: z.enum(["email", "passkey"]).optional().meta({
        description:
          "`email` (default) mails a code; `passkey` answers a challenge for the person's passkey, and mails nothing",
      }),
    })
    .refine(
      ({ quoteId, transferId, operationId, payoutId, scheduleId, approvalId }) =>
        [quoteId, transferId, operationId, payoutId, scheduleId, approvalId].filter(
          (each) => each !== undefined,
        ).length === 1,
      {
        message:
          "name one of quoteId, transferId, operationId, payoutId, scheduleId and approvalId",
        path: ["quoteId"],
      },
    ),
  status: 200,
  response: sentCode,
  errors: [
    "insufficient_scope",
    "forbidden",
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
  description:
    "Third step. Checks the code, prices the route again and simulates it; nothing moves. At or above the quoted minimum the price is locked for 60 seconds; below it the answer is 409 `quote_price_moved` with a fresh quote. Sign `actions`, if there are any, and execute. A key needs `swaps:write`, and for a transfer `transfers:write`.",
  tag,
  auth: "member",
  permission: "money:move",
  // A key needs one of these scopes. The service then checks which one the quote or transfer needs.
  scope: ["swaps:write", "transfers:write"],
  body: subject
    .extend(proofFields)
    .refine(oneSubject, oneSubjectMessage)
    .refine(hasOneProofAtMost, oneProofMessage),
  status: 200,
  response: z.object({
    prepared: z.literal(true).meta({ description: "Always true" }),
    quoteId: id("qt").meta({ description: "The quote" }),
    transferId: id("tr")
      .optional()
      .meta({ description: "The transfer, where one was prepared" }),
    expiresAt: timestamp.meta({
      description: "Until when it can be executed; the price is locked for 60 seconds",
    }),
    to: quoteRecord.shape.to.meta({ description: "What arrives where, at the new price" }),
    warnings: quoteRecord.shape.warnings.meta({
      description: "What a person should know before executing",
    }),
    networkFees: z
      .array(
        z.object({
          walletAddress: address.meta({ description: "Address of the wallet" }),
          chainId,
          paidBy: feePayer.meta({
            description: "Who pays: the project's sponsor, or the wallet",
          }),
        }),
      )
      .meta({ description: "Who pays the network fee of each source" }),
    simulation: z
      .object({
        balanceChanges: z.array(balanceChange).meta({ description: "Change of each balance" }),
      })
      .meta({ description: "What a simulation on the chains shows" }),
    actions: z.array(action).meta({
      description:
        "What wallets of your own must sign or send before execute; empty where the service signs everything",
    }),
  }),
  errors: [
    "not_found",
    "quote_expired",
    "quote_already_used",
    "quote_price_moved",
    "price_impact_too_high",
    "minimum_not_reached",
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
    "invalid_state",
    "recipient_not_allowed",
    "no_route",
    "insufficient_liquidity",
    "provider_error",
    "policy_violation",
    "screening_refused",
  ],
});

export const executeSwap = defineContract({
  method: "POST",
  path: "/swap/execute",
  summary: "Moves the money, once; follow it at /operations/{id}",
  description:
    "Last step. Starts the operation that moves the money. A quote is executed once, however often this is called: later calls answer the same operation. Follow GET /operations/{id}. A key needs `swaps:write`, and for a transfer `transfers:write`.",
  tag,
  auth: "member",
  permission: "money:move",
  // A key needs one of these scopes. The service then checks which one the quote or transfer needs.
  scope: ["swaps:write", "transfers:write"],
  body: subject
    .extend({
      signatures: z
        .array(
          z.object({
            actionId: z.string().meta({ description: "The action" }),
            signature: hex
              .optional()
              .meta({ description: "Signature over its typedData, 0x hex" }),
            txHash: hex.optional().meta({
              description:
                "Hash of the transaction that the wallet sent, for actions of the kind `transaction`",
            }),
          }),
        )
        .max(SIGNATURES_MAX)
        .optional()
        .meta({
          description: "One for each of `actions` of prepare; none where there are no actions",
        }),
    })
    .refine(oneSubject, oneSubjectMessage),
  status: 202,
  response: z.object({
    operationId: id("op").meta({ description: "The operation; read it at /operations/{id}" }),
    transferId: id("tr")
      .optional()
      .meta({ description: "The transfer, where one was executed" }),
    status,
    subStatus,
  }),
  errors: [
    "not_found",
    "invalid_state",
    "invalid_signature",
    "quote_expired",
    "insufficient_balance",
    "sponsor_budget_exceeded",
    "recipient_not_allowed",
    "policy_violation",
    "screening_refused",
    "otp_required",
    "insufficient_reserves",
    "chain_unavailable",
  ],
});

import { z } from "zod";
import {
  address,
  amount,
  amountOut,
  chainId,
  hex,
  id,
  status,
  subStatus,
  timestamp,
  tokenAmount,
  tokenRecord,
  tokenRef,
} from "./common";
import { defineContract } from "./contract";

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

/** Who pays the network fee of what a source sends. */
const feePayer = z.enum(["sponsor", "wallet"]);

export const networkFeePaidBy = feePayer
  .nullable()
  .default(null)
  .meta({ description: "Who pays the network fee; null where that is known once it is prepared" });

export const quoteRecord = z
  .object({
    quoteId: id("qt"),
    expiresAt: timestamp,
    from: z.array(
      tokenAmount.extend({
        address,
        chainId,
        walletId: id("wal"),
        expectedOut: amountOut,
        minOut: amountOut,
        estimatedSeconds: z.int(),
        networkFeePaidBy,
      }),
    ),
    to: z.object({
      chainId,
      address,
      token: tokenRecord,
      amount: amountOut,
      amountBase: z.string(),
      minAmount: amountOut.meta({ description: "Enforced on chain" }),
      minAmountBase: z.string(),
      decimals: z.int(),
    }),
    rate: z
      .string()
      .nullable()
      .meta({ description: "Received per unit sent where all sources are one asset, else null" }),
    fees: z.array(
      z.object({
        kind: z.enum(["bridge", "swap", "gas"]),
        amount: amountOut,
        token: tokenRecord,
        usd: z.string().nullable(),
      }),
    ),
    priceImpactBps: z.int(),
    slippageBps: z.int(),
    estimatedSeconds: z.int(),
    steps: z.array(
      z.object({
        sourceIndex: z.int(),
        kind: z.enum(["swap", "bridge", "transfer"]),
        venue: z.string(),
        from: tokenRecord,
        to: tokenRecord,
        amountIn: amountOut,
        amountOut,
      }),
    ),
    warnings: z.array(z.object({ code: z.string(), message: z.string() })),
    alternatives: z.array(
      z.object({
        label: z.string(),
        amount: amountOut,
        minAmount: amountOut,
        estimatedSeconds: z.int(),
        steps: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: "Quote" });

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

/** What a wallet of one's own has to do, in this order, before execute. */
export const action = z
  .object({
    actionId: z.string(),
    walletId: id("wal"),
    walletAddress: address,
    signerAddress: address.meta({
      description: "Who signs or sends: the linked wallet, or the owner of the smart account",
    }),
    chainId,
    kind: z.enum(["user_operation", "typed_data", "transaction"]).meta({
      description:
        "user_operation and typed_data: sign `typedData` (EIP-712). transaction: send `transaction` from the wallet and give its hash",
    }),
    description: z.string(),
    typedData: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: "As eth_signTypedData_v4 takes it; integers as decimal strings" }),
    transaction: z
      .object({
        to: address,
        data: hex,
        value: z.string().meta({ description: "Wei, decimal" }),
        gas: z
          .string()
          .meta({ description: "A gas limit that suffices, decimal; an estimate of the wallet's own may fall short" }),
      })
      .optional()
      .meta({ description: "As eth_sendTransaction takes it, but for the value" }),
  })
  .meta({ id: "WalletAction" });

export const balanceChange = z
  .object({
    walletAddress: address,
    chainId,
    token: tokenRecord,
    change: z.string().meta({ description: "Signed decimal amount" }),
    certainty: z.enum(["simulated", "expected", "minimum"]),
  })
  .meta({ id: "BalanceChange" });

export const prepareSwap = defineContract({
  method: "POST",
  path: "/swap/prepare",
  summary: "Checks the code, prices again, simulates, and locks the price for 60 s",
  tag,
  auth: "member",
  scope: "swaps:write",
  body: subject
    .extend({
      otp: z
        .string()
        .regex(/^[0-9]{6}$/, "must be 6 digits")
        .optional(),
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

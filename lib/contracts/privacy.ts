import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import {
  address,
  amount,
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
  tokenRef,
} from "./common";
import { defineContract } from "./contract";
import { SLIPPAGE_BPS_DEFAULT, SLIPPAGE_BPS_MAX } from "./swap";

const tag = "Privacy";

const PRIVATE_KINDS = ["shield", "unshield", "private_transfer", "private_swap", "public_exit"] as const;

/** Whether an operation's details are shown by the private page alone. */
export const isPrivateKind = (kind: string): kind is (typeof PRIVATE_KINDS)[number] =>
  (PRIVATE_KINDS as readonly string[]).includes(kind);

const honesty = {
  engine: z.string().meta({ description: "What makes the proofs" }),
  anonymitySet: z
    .int()
    .nullable()
    .meta({ description: "Approved deposits of the pool among which a withdrawal hides now; null: not known now" }),
  staysPublic: z.array(z.string()).meta({ description: "What everybody sees on the chain all the same" }),
};

const privacyWalletId = id("pw")
  .optional()
  .meta({ description: "A private wallet; the project's default one where it is missing" });

/** A commitment: 256 bits have 78 digits at most. */
const noteId = z
  .string()
  .regex(/^\d{1,78}$/, "must be a note's id")
  .meta({ description: "The note's commitment, as the chain has it", example: "1234567890" });

export const privacyWalletRecord = z
  .object({ privacyWalletId: id("pw"), name: z.string(), createdAt: timestamp })
  .meta({ id: "PrivateWallet" });

export const privateTransferRecord = z
  .object({
    transferId: id("tr"),
    operationId: id("op"),
    kind: z.enum(PRIVATE_KINDS),
    status,
    subStatus,
    privacyWalletId: id("pw"),
    toPrivacyWalletId: id("pw").nullable(),
    toAddress: address.nullable(),
    chainId,
    amount: tokenAmount.meta({ description: "What is shielded or swapped; else what the recipient gets exactly" }),
    minimum: tokenAmount.nullable().meta({ description: "Of a swap: what it brings at least, before the pool's fee" }),
    received: tokenAmount.nullable(),
    steps: z.array(
      z.object({
        state: z.enum(["queued", "proved", "submitted", "completed", "failed"]),
        withdrawn: amountOut,
        txHash: hex.nullable(),
        failure: failureRecord.nullable(),
      }),
    ),
    proof: z
      .object({ startedAt: timestamp, secondsLeft: z.int() })
      .nullable()
      .meta({ description: "While a proof is made: when it began, and about how long it still takes" }),
    failure: failureRecord.nullable(),
    createdBy: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
    expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved" }),
    ...honesty,
  })
  .meta({ id: "PrivateTransfer" });

export const listPrivacyWallets = defineContract({
  method: "GET",
  path: "/privacy/wallets",
  summary: "Private wallets of the project",
  tag,
  auth: "member",
  scope: "privacy:read",
  status: 200,
  response: z.object({ data: z.array(privacyWalletRecord) }),
});

export const createPrivacyWallet = defineContract({
  method: "POST",
  path: "/privacy/wallets",
  summary: "Makes a private wallet; its mnemonic is made and kept by the service, encrypted",
  tag,
  auth: "member",
  scope: "privacy:write",
  body: z.object({ name: z.string().trim().min(1).max(60) }),
  status: 201,
  response: privacyWalletRecord,
});

export const exportPrivacyWallet = defineContract({
  method: "POST",
  path: "/privacy/wallets/{id}/export",
  summary: "Shows the mnemonic of a private wallet; needs an approval (409 approval_required) and leaves an audit row",
  tag,
  auth: "user",
  params: z.object({ id: id("pw") }),
  body: z.object({ approval: givenApproval.optional() }),
  status: 200,
  response: z.object({ mnemonic: z.string().meta({ description: "BIP-39; whoever has it has the wallet's money" }) }),
  errors: [...APPROVAL_ERRORS, "forbidden", "unknown_privacy_wallet"],
});

export const getPrivateBalances = defineContract({
  method: "GET",
  path: "/privacy/balances",
  summary: "What each private wallet has in each pool, read from mnemonic and chain",
  tag,
  auth: "member",
  scope: "privacy:read",
  query: z.object({ privacyWalletId: id("pw").optional() }),
  status: 200,
  response: z.object({
    data: z.array(
      z.object({
        privacyWalletId: id("pw"),
        chainId,
        token: tokenRecord,
        spendable: amountOut,
        pendingApproval: amountOut.meta({ description: "Deposits that are not in the association set yet" }),
        inProof: amountOut.meta({ description: "Notes that operations under way spend" }),
        declined: amountOut.meta({
          description: "Deposits that were declined; they can leave by the public exit alone",
        }),
        anonymitySet: z.int(),
        minimum: amountOut.meta({ description: "The pool's smallest deposit" }),
        shieldFeeBps: z.int().meta({ description: "What the pool keeps of a deposit, in basis points" }),
        relayFeeBps: z.int().meta({ description: "What the relayer takes of a withdrawal, in basis points" }),
        canProcess: z
          .boolean()
          .meta({ description: "Whether notes of this pool can be swapped, and given to other private wallets" }),
      }),
    ),
    anonymitySetMin: z
      .int()
      .meta({ description: "A transfer out of a pool with a smaller set needs `acceptSmallSet`; 0: none does" }),
    engine: honesty.engine,
    staysPublic: honesty.staysPublic,
  }),
  errors: ["unknown_privacy_wallet", "chain_unavailable", "provider_error"],
});

const moveErrors = [
  "invalid_request",
  "unsupported_chain",
  "unsupported_token",
  "unknown_pool",
  "unknown_privacy_wallet",
  "below_pool_minimum",
  "amount_precision",
  "insufficient_balance",
  "note_spent",
  "invalid_state",
  "idempotency_mismatch",
  "provider_error",
  "chain_unavailable",
] as const;

const move = { chainId, token: tokenRef, amount, privacyWalletId };

export const shield = defineContract({
  method: "POST",
  path: "/privacy/shield",
  summary: "Deposits from the treasury into a pool; above the caller's policy it waits for approval",
  tag,
  auth: "member",
  scope: "privacy:write",
  body: z.object(move),
  status: 202,
  response: privateTransferRecord,
  errors: [...moveErrors, "insufficient_reserves", "simulation_failed", "sponsor_budget_exceeded"],
});

export const unshield = defineContract({
  method: "POST",
  path: "/privacy/unshield",
  summary: "Takes money out of a pool, to the treasury or to an address",
  tag,
  auth: "member",
  scope: "privacy:write",
  body: z.object({ ...move, toAddress: address.optional() }),
  status: 202,
  response: privateTransferRecord,
  errors: [...moveErrors, "recipient_not_allowed"],
});

export const privateTransfer = defineContract({
  method: "POST",
  path: "/privacy/transfer",
  summary:
    "Pays an address out of a pool, or another private wallet inside of it; the recipient gets exactly the amount",
  tag,
  auth: "member",
  scope: "privacy:write",
  body: z
    .object({
      ...move,
      toAddress: address.optional(),
      toPrivacyWalletId: id("pw").optional(),
      acceptSmallSet: z.boolean().optional().meta({ description: "Goes on although few deposits hide the transfer" }),
    })
    .refine(({ toAddress, toPrivacyWalletId }) => (toAddress === undefined) !== (toPrivacyWalletId === undefined), {
      message: "name either toAddress or toPrivacyWalletId",
      path: ["toAddress"],
    }),
  status: 202,
  response: privateTransferRecord,
  errors: [...moveErrors, "recipient_not_allowed", "small_anonymity_set"],
});

export const listPrivateExits = defineContract({
  method: "GET",
  path: "/privacy/exits",
  summary: "Notes that are not approved: declined deposits, which can leave by the public exit alone, and pending ones",
  tag,
  auth: "member",
  scope: "privacy:read",
  query: z.object({ privacyWalletId: id("pw").optional() }),
  status: 200,
  response: z.object({
    data: z.array(
      z.object({
        noteId,
        privacyWalletId: id("pw"),
        chainId,
        amount: tokenAmount,
        state: z.enum(["declined", "pending"]),
        txHash: hex.meta({ description: "Transaction in which the note came to be" }),
        leaving: z.boolean().meta({ description: "An operation takes it out now" }),
      }),
    ),
  }),
  errors: ["unknown_privacy_wallet", "chain_unavailable", "provider_error"],
});

export const startPrivateExit = defineContract({
  method: "POST",
  path: "/privacy/exits",
  summary:
    "Takes a note that is not approved back to the treasury that deposited it, whole and in public; it waits for a code as other moves do",
  tag,
  auth: "member",
  scope: "privacy:write",
  body: z.object({ chainId, noteId, privacyWalletId }),
  status: 202,
  response: privateTransferRecord,
  errors: [
    "unsupported_chain",
    "unknown_privacy_wallet",
    "unknown_wallet",
    "note_spent",
    "invalid_state",
    "idempotency_mismatch",
    "simulation_failed",
    "sponsor_budget_exceeded",
    "provider_error",
    "chain_unavailable",
  ],
});

export const listPrivateTransfers = defineContract({
  method: "GET",
  path: "/privacy/transfers",
  summary: "Private operations of the project, newest first",
  tag,
  auth: "member",
  scope: "privacy:read",
  query: pageQuery.extend({
    privacyWalletId: id("pw").optional().meta({ description: "Those that this private wallet pays or receives" }),
  }),
  status: 200,
  response: page(privateTransferRecord),
  errors: ["unknown_privacy_wallet"],
});

export const getPrivateTransfer = defineContract({
  method: "GET",
  path: "/privacy/transfers/{id}",
  summary: "One private operation: its proofs, and what came of them",
  tag,
  auth: "member",
  scope: "privacy:read",
  params: z.object({ id: id("tr") }),
  status: 200,
  response: privateTransferRecord,
  errors: ["not_found"],
});

export const quotePrivateSwap = defineContract({
  method: "POST",
  path: "/privacy/swap/quote",
  summary: "Prices a swap between two pools of a chain",
  tag,
  auth: "member",
  scope: "privacy:write",
  body: z.object({
    chainId,
    fromToken: tokenRef,
    toToken: tokenRef,
    amount,
    slippageBps: z.int().min(0).max(SLIPPAGE_BPS_MAX).default(SLIPPAGE_BPS_DEFAULT),
  }),
  status: 200,
  response: z.object({
    quoteId: id("qt"),
    expiresAt: timestamp,
    from: tokenAmount,
    expected: tokenAmount.meta({ description: "What the new note is worth" }),
    minimum: tokenAmount.meta({ description: "What it is worth at least: enforced on chain, as a part of the proof" }),
    poolFee: tokenAmount,
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
  ],
});

const quoteId = id("qt");

export const preparePrivateSwap = defineContract({
  method: "POST",
  path: "/privacy/swap/prepare",
  summary: "Approves a private swap with its code, or chooses the private wallet that it spends from",
  tag,
  auth: "member",
  scope: "privacy:write",
  body: z
    .object({
      quoteId,
      otp: z
        .string()
        .regex(/^[0-9]{6}$/, "must be 6 digits")
        .optional(),
      privacyWalletId: id("pw").optional(),
    })
    .refine(({ otp, privacyWalletId: wallet }) => otp !== undefined || wallet !== undefined, {
      message: "name otp or privacyWalletId",
      path: ["otp"],
    }),
  status: 200,
  response: z.object({
    prepared: z.literal(true),
    quoteId,
    expiresAt: timestamp,
    privacyWalletId: id("pw"),
    approved: z.boolean().meta({ description: "False: execute waits for a code where the caller needs one" }),
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
  ],
});

export const executePrivateSwap = defineContract({
  method: "POST",
  path: "/privacy/swap/execute",
  summary: "Swaps, once: withdrawal, swap and deposit in one transaction",
  tag,
  auth: "member",
  scope: "privacy:write",
  body: z.object({ quoteId }),
  status: 202,
  response: privateTransferRecord,
  errors: [
    "not_found",
    "invalid_state",
    "quote_expired",
    "quote_already_used",
    "insufficient_balance",
    "note_spent",
    "provider_error",
    "chain_unavailable",
  ],
});

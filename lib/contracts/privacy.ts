import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import {
  address,
  amount,
  amountOut,
  chainId,
  hex,
  id,
  page,
  pageQuery,
  timestamp,
  tokenAmount,
  tokenRecord,
  tokenRef,
  createdBetween,
  listOf,
  chainIds,
} from "./common";
import { defineContract } from "./contract";
import {
  honesty,
  poolRecord,
  privacyWalletRecord,
  privateTransferRecord,
  PRIVATE_KINDS,
} from "./privacy-records";
import { displayName } from "./names";
import { recipientWarnings } from "./warnings";

const tag = "Privacy";

const privacyWalletId = id("pw")
  .optional()
  .meta({ description: "A private wallet; the project's default one where it is missing" });

/** A commitment: 256 bits have at most 78 digits. */
const noteId = z
  .string()
  .regex(/^\d{1,78}$/, "must be a note's id")
  .meta({ description: "The note's commitment, as the chain has it", example: "1234567890" });

export const listPrivacyWallets = defineContract({
  method: "GET",
  path: "/privacy/wallets",
  summary: "Private wallets of the project",
  description:
    "Private wallets of the project, the default one included once it was used. Changes nothing.",
  tag,
  auth: "member",
  scope: "privacy:read",
  status: 200,
  response: z.object({
    data: z.array(privacyWalletRecord).meta({ description: "Private wallets of the project" }),
  }),
});

export const createPrivacyWallet = defineContract({
  method: "POST",
  path: "/privacy/wallets",
  summary: "Makes a private wallet; its mnemonic is made and kept by the service, encrypted",
  description:
    "Creates keys for private balances; the service stores them encrypted. Nothing happens on a chain and nothing is charged. Projects have a default private wallet without this call.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "privacy:write",
  body: z.object({
    name: displayName(60).meta({ description: "Name for people, 1–60 characters" }),
  }),
  status: 201,
  response: privacyWalletRecord,
});

export const exportPrivacyWallet = defineContract({
  method: "POST",
  path: "/privacy/wallets/{id}/export",
  summary:
    "Shows the mnemonic of a private wallet; needs an approval (409 approval_required) and leaves an audit row",
  description:
    "Whoever has the mnemonic can spend the private balance without this service. The first answer is 409 `approval_required`; approve it and send the request again. Store the mnemonic offline, and use another wallet for new money: this one is marked as exported for ever, and every owner is mailed. While a rule of a policy bounds where money goes or how much of it, it is refused (`policy_violation`). Where votes are demanded, the first request asks for them (`waitsFor`); within an hour after they were given, the same person sends it again and sees the mnemonic once.",
  tag,
  auth: "user",
  permission: "private-keys:export",
  keepsNoAnswer: true,
  params: z.object({ id: id("pw").meta({ description: "The private wallet" }) }),
  body: z.object({ approval: givenApproval.optional() }),
  status: 200,
  response: z.object({
    mnemonic: z.string().nullable().meta({
      description:
        "BIP-39; whoever has it has the wallet's money. null while it waits for votes",
    }),
    waitsFor: z
      .object({
        decisionId: id("dec").meta({
          description: "The request for votes (GET /approvals/{id})",
        }),
        expiresAt: timestamp.meta({ description: "Until when people can vote" }),
      })
      .nullable()
      .meta({
        description: "The votes that were asked for now; null where the mnemonic is shown",
      }),
    pools: z.array(poolRecord).meta({
      description:
        "The pools of every chain that the wallet can have notes in, for other software of the protocol",
    }),
  }),
  errors: [...APPROVAL_ERRORS, "forbidden", "policy_violation", "unknown_privacy_wallet"],
});

export const getPrivateBalances = defineContract({
  method: "GET",
  path: "/privacy/balances",
  summary: "What each private wallet has in each pool, read from mnemonic and chain",
  description:
    "Reads the chain with the keys of each private wallet, so the answer can take a few seconds. `pendingApproval` becomes `spendable` once the deposit is approved. Changes nothing.",
  tag,
  auth: "member",
  scope: "privacy:read",
  query: z.object({
    privacyWalletId: id("pw").optional().meta({ description: "Only this private wallet" }),
  }),
  status: 200,
  response: z.object({
    data: z
      .array(
        z.object({
          privacyWalletId: id("pw").meta({ description: "The private wallet" }),
          chainId,
          token: tokenRecord.meta({ description: "The token" }),
          spendable: amountOut.meta({
            description: "What can be sent, swapped or taken out now",
          }),
          pendingApproval: amountOut.meta({
            description: "Deposits that are not in the association set yet",
          }),
          inProof: amountOut.meta({ description: "Notes that operations under way spend" }),
          declined: amountOut.meta({
            description: "Deposits that were declined; they can leave by the public exit alone",
          }),
          anonymitySet: z.int().meta({
            description: "Approved deposits of the pool among which a withdrawal hides",
          }),
          minimum: amountOut.meta({ description: "The pool's smallest deposit" }),
          shieldFeeBps: z
            .int()
            .meta({ description: "What the pool keeps of a deposit, in basis points" }),
          relayFeeBps: z
            .int()
            .meta({ description: "What the relayer takes of a withdrawal, in basis points" }),
          canProcess: z.boolean().meta({
            description:
              "Whether notes of this pool can be swapped, and given to other private wallets",
          }),
        }),
      )
      .meta({ description: "One for each private wallet and pool" }),
    anonymitySetMin: z.int().meta({
      description:
        "A transfer out of a pool with a smaller set needs `acceptSmallSet`; 0: none does",
    }),
    engine: honesty.engine,
    staysPublic: honesty.staysPublic,
  }),
  errors: ["unknown_privacy_wallet", "chain_unavailable", "provider_error"],
});

const moveErrors = [
  "invalid_request",
  "policy_violation",
  "screening_refused",
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
  "recipient_frozen",
  "wallet_frozen",
  "provider_error",
  "chain_unavailable",
] as const;

const move = {
  chainId,
  token: tokenRef.meta({ description: "The token; its chain has a pool for it" }),
  amount,
  privacyWalletId,
};

export const shield = defineContract({
  method: "POST",
  path: "/privacy/shield",
  summary:
    "Deposits from the treasury into a pool; above the caller's policy it waits for approval",
  description:
    "Moves money from the treasury into the pool, where it is private once the deposit is approved. The pool keeps a fee of the deposit. It waits for a code where the caller needs one. Send an Idempotency-Key, and follow GET /privacy/transfers/{id}.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "privacy:write",
  body: z.object(move),
  status: 202,
  response: privateTransferRecord,
  errors: [
    ...moveErrors,
    "insufficient_reserves",
    "simulation_failed",
    "sponsor_budget_exceeded",
    "unknown_wallet",
  ],
});

export const unshield = defineContract({
  method: "POST",
  path: "/privacy/unshield",
  summary: "Takes money out of a pool, to the treasury or to an address",
  description:
    "Withdraws from the pool to the treasury or to an address; the relayer keeps a fee. The link to the deposit stays hidden among the other deposits. It waits for a code where the caller needs one. Send an Idempotency-Key, and follow GET /privacy/transfers/{id}.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "privacy:write",
  body: z.object({
    ...move,
    toAddress: address
      .optional()
      .meta({ description: "Address that receives. Default: the treasury" }),
  }),
  status: 202,
  response: privateTransferRecord.extend({ warnings: recipientWarnings }),
  errors: [...moveErrors, "recipient_not_allowed", "unknown_wallet"],
});

export const privateTransfer = defineContract({
  method: "POST",
  path: "/privacy/transfer",
  summary:
    "Pays an address out of a pool, or another private wallet inside of it; the recipient gets exactly the amount",
  description:
    "Spends notes of the private wallet; the recipient gets exactly the amount, and the relayer's fee is paid on top. A proof is made before the transaction; `proof.secondsLeft` says how long it takes. It waits for a code where the caller needs one. Send an Idempotency-Key, and follow GET /privacy/transfers/{id}.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "privacy:write",
  body: z
    .object({
      ...move,
      toAddress: address
        .optional()
        .meta({ description: "Address that receives; either this or toPrivacyWalletId" }),
      toPrivacyWalletId: id("pw")
        .optional()
        .meta({ description: "Private wallet of the project that receives, inside the pool" }),
      acceptSmallSet: z
        .boolean()
        .optional()
        .meta({ description: "Goes on although few deposits hide the transfer" }),
    })
    .refine(
      ({ toAddress, toPrivacyWalletId }) =>
        (toAddress === undefined) !== (toPrivacyWalletId === undefined),
      {
        message: "name either toAddress or toPrivacyWalletId",
        path: ["toAddress"],
      },
    ),
  status: 202,
  response: privateTransferRecord.extend({ warnings: recipientWarnings }),
  errors: [...moveErrors, "recipient_not_allowed", "small_anonymity_set"],
});

export const listPrivateExits = defineContract({
  method: "GET",
  path: "/privacy/exits",
  summary:
    "Notes that are not approved: declined deposits, which can leave by the public exit alone, and pending ones",
  description:
    "Deposits that the pool has not approved. Those that were declined can leave only by POST /privacy/exits, in public.",
  tag,
  auth: "member",
  scope: "privacy:read",
  query: z.object({
    privacyWalletId: id("pw").optional().meta({ description: "Only this private wallet" }),
  }),
  status: 200,
  response: z.object({
    data: z
      .array(
        z.object({
          noteId,
          privacyWalletId: id("pw").meta({ description: "Private wallet that owns the note" }),
          chainId,
          amount: tokenAmount.meta({ description: "Value of the note" }),
          state: z.enum(["declined", "pending"]).meta({
            description:
              "`declined`: it can leave by the public exit alone. `pending`: it waits for its approval",
          }),
          txHash: hex.meta({ description: "Transaction in which the note came to be" }),
          leaving: z.boolean().meta({ description: "An operation takes it out now" }),
        }),
      )
      .meta({ description: "Notes that are not approved" }),
  }),
  errors: ["unknown_privacy_wallet", "chain_unavailable", "provider_error"],
});

export const startPrivateExit = defineContract({
  method: "POST",
  path: "/privacy/exits",
  summary:
    "Takes a note that is not approved back to the treasury that deposited it, whole and in public; it waits for a code as other moves do",
  description:
    "Returns one whole deposit to the treasury in public; everybody can see that both belong together. Use it for declined deposits. It waits for a code where the caller needs one.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "privacy:write",
  body: z.object({ chainId, noteId, privacyWalletId }),
  status: 202,
  response: privateTransferRecord,
  errors: [
    "policy_violation",
    "screening_refused",
    "unsupported_chain",
    "unknown_privacy_wallet",
    "unknown_wallet",
    "note_spent",
    "invalid_state",
    "idempotency_mismatch",
    "recipient_frozen",
    "wallet_frozen",
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
  description:
    "Filter by kind, private wallet, chain and time; read further pages with `cursor`. GET /operations filters them by status, too.",
  tag,
  auth: "member",
  scope: "privacy:read",
  query: pageQuery.extend({
    privacyWalletId: id("pw")
      .optional()
      .meta({ description: "Those that this private wallet pays or receives" }),
    kind: listOf(PRIVATE_KINDS)
      .optional()
      .meta({ description: "Only these kinds, separated by commas" }),
    chainId: chainIds
      .optional()
      .meta({ description: "Only on these chains, separated by commas" }),
    ...createdBetween,
  }),
  status: 200,
  response: page(privateTransferRecord),
  errors: ["unknown_privacy_wallet"],
});

export const getPrivateTransfer = defineContract({
  method: "GET",
  path: "/privacy/transfers/{id}",
  summary: "One private operation: its proofs, and what came of them",
  description:
    "Shows each step of a private operation, the time that a proof still takes, and what stays visible to the public. Poll it until the status is final.",
  tag,
  auth: "member",
  scope: "privacy:read",
  params: z.object({ id: id("tr").meta({ description: "Id of the private operation" }) }),
  status: 200,
  response: privateTransferRecord,
  errors: ["not_found"],
});

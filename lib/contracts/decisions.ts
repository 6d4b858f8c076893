import { z } from "zod";
import { DECISIONS_MAX } from "@/lib/core/approval-advice";
import { id, otp, page, pageQuery, timestamp, walletSignature } from "./common";
import { approvalRequirement } from "./approval-requirement";
import { defineContract } from "./contract";
import { hasOneProof, hasOneProofAtMost, proofFields } from "./proofs";
import { requestOtp } from "./swap";

const tag = "Approvals";

const verdict = z.enum(["approve", "decline"]);
const state = z.enum(["open", "approved", "declined", "expired", "cancelled"]);
/** Description of `exemptKeys` in the project's setting and in the policy rule `approvals`. */
export const EXEMPT_KEYS_MEANING =
  "Whether API keys that are exempt from codes move money without votes, within their daily caps. Without it votes bind them too. Only an owner sets it, with an approval";

export const votingSetting = approvalRequirement
  .extend({ exemptKeys: z.boolean().default(false).meta({ description: EXEMPT_KEYS_MEANING }) })
  .meta({ id: "VotingSetting" });

const voteRecord = z
  .object({
    userId: id("usr").meta({ description: "Who voted" }),
    name: z.string().nullable().meta({
      description:
        "Name for people: display name and verified e-mail address, or else the wallet; null where unknown",
    }),
    decision: verdict.meta({ description: "How the person voted" }),
    reason: z
      .string()
      .nullable()
      .meta({ description: "The reason that was given; null where none was" }),
    createdAt: timestamp.meta({ description: "When" }),
  })
  .meta({ id: "Vote" });

export const decisionRecord = z
  .object({
    id: id("dec").meta({ description: "Id of the request" }),
    subject: z
      .object({
        type: z.string().meta({
          description: "`operation`, `payout`, or `privacy_wallet`: its mnemonic is shown",
        }),
        id: z.string().meta({ description: "Id of the object" }),
      })
      .meta({ description: "What is decided about" }),
    title: z.string().meta({ description: "What is decided, in one line" }),
    lines: z.array(z.string()).meta({ description: "Every value that is approved, in words" }),
    state: state.meta({
      description: "`open` until it is decided, expires or its object is cancelled",
    }),
    requestedBy: z.string().meta({ description: "The person or API key that asked" }),
    requestedByName: z.string().nullable().meta({
      description:
        "Name for people: display name and verified e-mail address of the person, or else the wallet, or name of the key; null: the service",
    }),
    required: approvalRequirement.meta({
      description: "How many approvals it needs, and of whom",
    }),
    demandedBy: z.array(z.string()).meta({
      description:
        "The rules of policies and the setting of the project that demand the votes, in words",
    }),
    votes: z
      .array(voteRecord)
      .meta({ description: "Votes in their order. One to decline ends the request" }),
    approvals: z.int().min(0).meta({ description: "How many approvals count so far" }),
    mayDecide: z.boolean().meta({ description: "Whether the caller may vote now" }),
    messages: z
      .object({
        approve: z.string().meta({ description: "To approve" }),
        decline: z.string().meta({ description: "To decline" }),
      })
      .nullable()
      .meta({
        description:
          "What the caller's wallet signs in place of a code; null where the caller may not vote, and in lists",
      }),
    createdAt: timestamp.meta({ description: "Since when it waits" }),
    expiresAt: timestamp.meta({
      description: "Until when it can be decided; then its object ends and no money moves",
    }),
    decidedAt: timestamp
      .nullable()
      .meta({ description: "When it ended; null while it is open" }),
  })
  .meta({ id: "ApprovalRequest" });

const params = z.object({ id: id("dec").meta({ description: "Id of the request" }) });

const CODE_ERRORS = [
  "not_found",
  "forbidden",
  "invalid_state",
  "otp_channel_missing",
  "rate_limited",
  "provider_error",
] as const;

const VOTE_ERRORS = [
  "not_found",
  "forbidden",
  "invalid_state",
  "invalid_signature",
  "otp_required",
  "otp_invalid",
  "otp_expired",
  "otp_attempts_exceeded",
  "insufficient_balance",
  "chain_unavailable",
] as const;

const votes = z.object({
  ...proofFields,
  otp: otp
    .optional()
    .meta({ description: "The code that POST /approvals/{id}/request-otp mails" }),
  signature: walletSignature.optional().meta({
    description:
      "Over the message in `messages`, by the wallet that the person signs in with (EIP-191, ERC-1271, ERC-6492)",
  }),
  reason: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: "Why, for the other people" }),
});

const hasProofOfVote = ({
  signature,
  ...codes
}: Pick<z.output<typeof votes>, "otp" | "totp" | "passkey" | "signature">): boolean =>
  hasOneProof(codes) !== (signature !== undefined) && hasOneProofAtMost(codes);

const PROOF_OF_VOTE = {
  message: "give one of otp, totp, passkey and signature",
  path: ["otp"],
};

const voteBody = votes.refine(hasProofOfVote, PROOF_OF_VOTE);

export const listDecisions = defineContract({
  method: "GET",
  path: "/approvals",
  summary: "Payments that wait for votes or were decided, newest first",
  description:
    "Filter by state or by the object. Read further pages with `cursor`. Changes nothing.",
  tag,
  auth: "member",
  scope: "operations:read",
  query: pageQuery.extend({
    state: state.optional().meta({ description: "Only this state" }),
    subjectType: z
      .string()
      .max(40)
      .optional()
      .meta({ description: "Only about this type of object" }),
    subjectId: z.string().max(80).optional().meta({ description: "Only about this object" }),
  }),
  status: 200,
  response: page(decisionRecord),
});

export const getDecision = defineContract({
  method: "GET",
  path: "/approvals/{id}",
  summary: "One request with its votes",
  description:
    "Shows exactly what is approved, who has voted, and whether the caller may vote. Changes nothing.",
  tag,
  auth: "member",
  scope: "operations:read",
  params,
  status: 200,
  response: decisionRecord,
  errors: ["not_found"],
});

export const requestDecisionCode = defineContract({
  method: "POST",
  path: "/approvals/{id}/request-otp",
  summary: "Mails the caller a code for one vote on the request",
  description:
    "The code is good for this request and this person alone, for either decision. Moves nothing.",
  tag,
  auth: "user",
  permission: "money:move",
  params,
  query: z.object({
    channel: z.enum(["email", "passkey"]).optional().meta({
      description:
        "`email` (default) mails a code; `passkey` answers a challenge for the person's passkey",
    }),
  }),
  status: 200,
  response: requestOtp.response,
  errors: CODE_ERRORS,
});

export const approveDecision = defineContract({
  method: "POST",
  path: "/approvals/{id}/approve",
  summary: "Votes to approve; the last vote that is needed lets the payment run",
  description:
    "Needs the permission to move money, one of the request's roles, and a code or signature. Each person votes once. The payment then starts by itself, once; follow the record of its object.",
  tag,
  auth: "user",
  permission: "money:move",
  params,
  body: voteBody,
  status: 200,
  response: decisionRecord,
  errors: VOTE_ERRORS,
});

export const declineDecision = defineContract({
  method: "POST",
  path: "/approvals/{id}/decline",
  summary: "Votes to decline, which ends the request; no money moves",
  description:
    "One vote to decline is enough. The payment is cancelled, and its money stays where it is.",
  tag,
  auth: "user",
  permission: "money:move",
  params,
  body: voteBody,
  status: 200,
  response: decisionRecord,
  errors: VOTE_ERRORS,
});

const ids = z
  .array(id("dec"))
  .min(1)
  .max(DECISIONS_MAX)
  .refine((each) => new Set(each).size === each.length, "names a request twice")
  .meta({ description: "Ids of the requests, 1–50, in any order, each once" });

export const requestDecisionsCode = defineContract({
  method: "POST",
  path: "/approvals/request-otp",
  summary: "Mails the caller one code that approves several requests",
  description:
    "The code is good for one approval of each of these requests, for exactly this set and this person. The mail lists every request. Refused when the person may not vote on one of them. Moves nothing.",
  tag,
  auth: "user",
  permission: "money:move",
  body: z.object({
    ids,
    channel: z.enum(["email", "passkey", "wallet"]).optional().meta({
      description:
        "`email` (default) mails a code; `passkey` answers a challenge for the person's passkey; `wallet` answers only the message to sign",
    }),
  }),
  status: 200,
  response: z.object({
    setId: z.string().meta({ description: "Id of the set; equal for equal ids" }),
    message: z.string().meta({
      description:
        "What the caller's wallet signs in place of a code: every request with its values",
    }),
    sent: requestOtp.response
      .nullable()
      .meta({ description: "The code or the challenge; null for the channel `wallet`" }),
  }),
  errors: CODE_ERRORS,
});

export const approveDecisions = defineContract({
  method: "POST",
  path: "/approvals/approve",
  summary: "Votes to approve several requests with one proof",
  description:
    "The proof is good for exactly this set, once. Each vote is counted as by POST /approvals/{id}/approve. A request that has ended meanwhile, or on which the person may not vote, is answered with its `refusal`, and the others are counted. When no vote counts, the first refusal answers the whole request.",
  tag,
  auth: "user",
  permission: "money:move",
  body: votes
    .extend({
      ids,
      otp: otp
        .optional()
        .meta({ description: "The code that POST /approvals/request-otp mails" }),
      signature: walletSignature.optional().meta({
        description:
          "Over `message` of POST /approvals/request-otp, by the wallet that the person signs in with (EIP-191, ERC-1271, ERC-6492)",
      }),
    })
    .refine(hasProofOfVote, PROOF_OF_VOTE),
  status: 200,
  response: z.object({
    data: z
      .array(
        z
          .object({
            decision: decisionRecord.meta({ description: "The request after the vote" }),
            refusal: z
              .object({
                code: z.string().meta({ description: "Stable code for programs" }),
                message: z.string().meta({ description: "Why, in words" }),
              })
              .nullable()
              .meta({ description: "Why the vote was not counted; null where it was" }),
          })
          .meta({ id: "SetVote" }),
      )
      .meta({ description: "One for each request, in the order of `ids`" }),
  }),
  errors: VOTE_ERRORS,
});

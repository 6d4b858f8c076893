/** Further fields of error bodies: each belongs to a few codes, which its description names. */
import { z } from "zod";

const text = (description: string) => z.string().optional().meta({ description });
const count = (description: string) => z.number().int().optional().meta({ description });

const sponsor = z
  .object({
    chainId: z.number().int().meta({ description: "The chain whose network fees are sponsored" }),
    symbol: text("The coin of the amounts"),
    needed: text("What the network fees may come to"),
    perOperation: text("The most that is paid for one operation"),
    remaining: text("What is left of the day's budget"),
    dailyLimit: text("The day's budget"),
    resetsAt: text("When the day's budget begins anew"),
    gas: text("Gas that the call may use"),
    gasCeiling: text("The most gas that is sponsored"),
  })
  .meta({ id: "SponsorLimit" });

export const ERROR_FIELDS = {
  approvalId: text("With `approval_required`: send the request again with it; `message` is what to approve"),
  expiresAt: text("With `approval_required`: until when it can be approved"),
  attemptsLeft: count("With `otp_invalid`: how many more codes may be tried"),
  evaluationId: text("With `policy_violation` and `screening_refused`: read it with GET /policies/evaluations/{id}"),
  decisionId: text("With `invalid_state`: the request that waits for votes; see GET /approvals"),
  operationId: text("With `quote_already_used` and `invalid_state`: the operation that moves the money"),
  transferId: text("With `quote_price_moved` of a transfer: the new transfer"),
  quote: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: "With `quote_price_moved`: a fresh quote, in the form of `Quote`" }),
  retryOf: text("With `invalid_state`: the operation that was tried again already"),
  retriedBy: text("With `invalid_state`: the operation that tried it again"),
  priceImpactBps: count("With `price_impact_too_high`: the impact, in hundredths of a percent"),
  anonymitySet: count("With `small_anonymity_set`: how many deposits hide the movement"),
  sponsor: sponsor.optional().meta({ description: "With `sponsor_budget_exceeded`: the limit and what was needed" }),
  reason: text("With `simulation_failed`: why the chain would not execute it"),
  entryPointCode: text("With `simulation_failed`: the code of the ERC-4337 EntryPoint, such as `AA21`"),
} as const;

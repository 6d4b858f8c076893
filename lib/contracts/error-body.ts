import { z } from "zod";
import { PROOFS } from "./approvable-changes";
import { quoteRecord } from "./quote-records";

const text = (description: string) => z.string().optional().meta({ description });
const count = (description: string) => z.number().int().optional().meta({ description });

const sponsor = z
  .object({
    chainId: z
      .number()
      .int()
      .meta({ description: "The chain whose network fees are sponsored" }),
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

/**
 * Fields of error bodies besides `message` and `code`. Each description lists the codes with this
 * field.
 */
const ERROR_FIELDS = {
  approvalId: text(
    "With `approval_required`: send the request again with it; `message` is what to approve",
  ),
  expiresAt: text("With `approval_required`: until when it can be approved"),
  proofs: z
    .array(z.enum(PROOFS))
    .optional()
    .meta({ description: "With `approval_required`: proofs that the change takes" }),
  attemptsLeft: count("With `otp_invalid`: how many more codes may be tried"),
  evaluationId: text(
    "With `policy_violation` and `screening_refused`: read it with GET /policies/evaluations/{id}",
  ),
  decisionId: text(
    "With `invalid_state`: the request that waits for votes; see GET /approvals",
  ),
  operationId: text(
    "With `quote_already_used` and `invalid_state`: the operation that moves the money",
  ),
  transferId: text("With `quote_price_moved` of a transfer: the new transfer"),
  quote: quoteRecord
    .optional()
    .meta({ description: "With `quote_price_moved`: a fresh quote" }),
  retryOf: text("With `invalid_state`: the operation that was tried again already"),
  retriedBy: text("With `invalid_state`: the operation that tried it again"),
  priceImpactBps: count("With `price_impact_too_high`: the impact, in hundredths of a percent"),
  anonymitySet: count("With `small_anonymity_set`: how many deposits hide the movement"),
  sponsor: sponsor
    .optional()
    .meta({ description: "With `sponsor_budget_exceeded`: the limit and what was needed" }),
  reason: text("With `simulation_failed`: why the chain would not execute it"),
  entryPointCode: text(
    "With `simulation_failed`: the code of the ERC-4337 EntryPoint, such as `AA21`",
  ),
} as const;

export const errorBody = z
  .object({
    message: z.string().meta({ description: "What happened and what to do, for people" }),
    code: z.string().meta({ description: "Stable code for programs" }),
    requestId: z.string().meta({ description: "Names the request in the service's logs" }),
    details: z
      .array(
        z
          .object({
            path: z.string().meta({ description: "The field, such as `from.0.amount`" }),
            message: z.string().meta({ description: "What is wrong with it" }),
            code: z
              .string()
              .optional()
              .meta({ description: "Stable code of this fault, where it has one of its own" }),
          })
          .meta({ id: "ErrorDetail" }),
      )
      .optional()
      .meta({ description: "Each field that is at fault" }),
    docsUrl: z.string().optional().meta({ description: "Page that explains the error" }),
    ...ERROR_FIELDS,
  })
  .meta({ id: "Error" });

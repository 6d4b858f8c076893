/** Warnings to show to a person before money moves, or before a recipient's address is stored. */
import { z } from "zod";

/**
 * Codes of the recipient check. Every route that pays or stores an address may answer with them.
 */
export const RECIPIENT_WARNINGS = [
  "recipient_listed",
  "recipient_frozen",
  "token_contract",
  "lookalike_recipient",
  "code_elsewhere",
  "first_payment",
] as const;
export type RecipientWarningCode = (typeof RECIPIENT_WARNINGS)[number];

export const warning = z
  .object({
    code: z.string().meta({ description: "Stable code for programs" }),
    path: z.string().nullable().meta({
      description:
        "The field that it is about, such as `toAddress` or `transfers.3.address`; null: the whole",
    }),
    message: z.string().meta({ description: "What to look at, in a sentence for people" }),
  })
  .meta({ id: "Warning" });

export type Warning = z.output<typeof warning>;

export const recipientWarning = warning
  .extend({
    code: z.enum(RECIPIENT_WARNINGS).meta({
      description:
        "`recipient_listed`: a screening source lists it; `recipient_frozen`: a token's issuer has frozen it; `token_contract`: it is the contract of a token; `lookalike_recipient`: it begins and ends like an address that the project knows; `code_elsewhere`: it is a contract on another chain and not on this one; `first_payment`: the project has not paid it before",
    }),
  })
  .meta({ id: "RecipientWarning" });

export const recipientWarnings = z.array(recipientWarning).meta({
  description: "What to look at about the recipients, at most 100; nothing is refused for it",
});

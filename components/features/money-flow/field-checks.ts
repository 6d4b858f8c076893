import { z } from "zod";
import { isDomainError } from "@/lib/core/errors";
import { parseAmount } from "@/lib/core/money";

/** A select that must have a value. */
export const chosen = (what: string): z.ZodString => z.string().min(1, `Choose a ${what}.`);

/** Takes what the contract's schema takes, and says in a sentence what it does not. */
export const checkedBy = (schema: z.ZodType, what: string, empty: string): z.ZodString =>
  z.string().superRefine((text, context) => {
    const problem = schema.safeParse(text.trim()).error?.issues[0]?.message;
    if (problem === undefined) return;
    context.addIssue({ code: "custom", message: text.trim() === "" ? empty : `The ${what} ${problem}.` });
  });

/** Why the token cannot have this amount, in a sentence; null where it can, or is not known. */
export const precisionProblem = (
  token: { readonly symbol: string; readonly decimals: number } | undefined,
  text: string,
): string | null => {
  if (token === undefined) return null;
  try {
    parseAmount(text.trim(), token.decimals);
    return null;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return error.code === "amount_precision"
      ? `${token.symbol} has ${String(token.decimals)} digits after the point, no more.`
      : error.message;
  }
};

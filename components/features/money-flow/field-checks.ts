import { z } from "zod";
import { amount } from "@/lib/contracts/common";
import { isDomainError } from "@/lib/core/errors";
import { parseAmount } from "@/lib/core/money";
import { groupedAmount, readAmount } from "@/lib/core/read-amount";

export const chosen = (what: string): z.ZodString => z.string().min(1, `Choose a ${what}.`);

/**
 * Checks a text field with a schema. Puts `what` before the schema's message, which has no
 * subject.
 */
export const checkedBy = (schema: z.ZodType, what: string, empty: string): z.ZodString =>
  z.string().superRefine((text, context) => {
    const problem = schema.safeParse(text.trim()).error?.issues[0]?.message;
    if (problem === undefined) return;
    context.addIssue({
      code: "custom",
      message: text.trim() === "" ? empty : `The ${what} ${problem}.`,
    });
  });

export const typedAmountField = (): z.ZodString =>
  z.string().superRefine((text, context) => {
    const fail = (message: string): void => context.addIssue({ code: "custom", message });
    if (text.trim() === "") {
      fail("Enter an amount.");
      return;
    }
    const read = readAmount(text);
    if (read === null) fail(`Enter an amount such as ${groupedAmount("1250.00")}.`);
    else if (!amount.safeParse(read).success) fail("Enter an amount above zero.");
  });

/**
 * Why the amount does not fit the token's decimals, in a sentence; null when it fits, or the token
 * is unknown.
 */
export const precisionProblem = (
  token: { readonly symbol: string; readonly decimals: number } | undefined,
  text: string,
): string | null => {
  if (token === undefined) return null;
  try {
    parseAmount(readAmount(text) ?? text.trim(), token.decimals);
    return null;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return error.code === "amount_precision"
      ? `${token.symbol} has ${String(token.decimals)} digits after the point, no more.`
      : error.message;
  }
};

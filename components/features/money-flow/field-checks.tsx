import type { ReactNode } from "react";
import { z } from "zod";
import { amount } from "@/lib/contracts/common";
import { isDomainError } from "@/lib/core/errors";
import { parseAmount } from "@/lib/core/money";
import { groupedAmount, readAmount } from "@/lib/core/read-amount";

/** Schema of a select that must have a value. */
export const chosen = (what: string): z.ZodString => z.string().min(1, `Choose a ${what}.`);

/** Schema of a text that the contract's schema accepts; its message is a sentence. */
export const checkedBy = (schema: z.ZodType, what: string, empty: string): z.ZodString =>
  z.string().superRefine((text, context) => {
    const problem = schema.safeParse(text.trim()).error?.issues[0]?.message;
    if (problem === undefined) return;
    context.addIssue({
      code: "custom",
      message: text.trim() === "" ? empty : `The ${what} ${problem}.`,
    });
  });

/** Schema of an amount in the person's locale; its message is one sentence. */
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

interface ReadAsProps {
  /** The text as the person typed it. */
  readonly value: string;
  /** The plain decimal string that was read; null where the text is no amount. */
  readonly read: string | null;
  readonly symbol: string;
}

/**
 * Shows how a typed amount was read when it is not a plain number, so that "1,234" surprises
 * nobody.
 */
export const ReadAs = ({ value, read, symbol }: ReadAsProps): ReactNode =>
  read === null || value.trim() === read ? null : (
    <span>
      Read as <span className="num text-fg">{groupedAmount(read)}</span> {symbol}
    </span>
  );

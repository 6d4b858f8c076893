import { z } from "zod";
import { toScaled } from "@/components/features/swap/decimal";
import { isDomainError } from "@/lib/core/errors";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { groupedAmount, readAmount } from "@/lib/core/read-amount";

interface Money {
  readonly currency: string;
  readonly decimals: number;
}

/** Why a decimal string is not a valid amount, as a sentence; null when it is valid. */
export const amountProblem = (text: string, { currency, decimals }: Money): string | null => {
  if (text.trim() === "") return "Enter an amount.";
  try {
    parseAmount(text.trim(), decimals);
    return null;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    if (error.code === "amount_precision")
      return `${currency} has ${String(decimals)} digits after the point, no more.`;
    return "Enter an amount above zero, such as 12.50.";
  }
};

/** Why a text in the format of the person's locale is not a valid amount; null when it is valid. */
const typedProblem = (text: string, money: Money): string | null => {
  if (text.trim() === "") return "Enter an amount.";
  const read = readAmount(text);
  return read === null
    ? `Enter an amount such as ${groupedAmount("1250.00")}.`
    : amountProblem(read, money);
};

/**
 * The amount by which the typed amount exceeds `available`; null when it does not, or when the text
 * is no amount.
 */
export const missing = (text: string, available: string, money: Money): string | null => {
  const read = readAmount(text);
  if (read === null || amountProblem(read, money) !== null) return null;
  const short = parseAmount(read, money.decimals) - (toScaled(available, money.decimals) ?? 0n);
  return short > 0n ? formatAmount(short, money.decimals) : null;
};

/** The form of a funding. Its output is a decimal string. */
export const fundForm = (money: Money) =>
  z.object({
    amount: z
      .string()
      .trim()
      .superRefine((text, context) => {
        const message = typedProblem(text, money);
        if (message !== null) context.addIssue({ code: "custom", message });
      })
      .transform((text) => readAmount(text) ?? text),
  });

import { z } from "zod";
import { toScaled } from "@/components/features/swap/decimal";
import { isDomainError } from "@/lib/core/errors";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { groupedAmount, readAmount } from "@/lib/core/read-amount";

interface Money {
  readonly currency: string;
  readonly decimals: number;
}

/** The problem of an amount as plain decimal string; null when there is none. */
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

/** The problem of an amount in the format of the person's locale; null when there is none. */
const typedProblem = (text: string, money: Money): string | null => {
  if (text.trim() === "") return "Enter an amount.";
  const read = readAmount(text);
  return read === null
    ? `Enter an amount such as ${groupedAmount("1250.00")}.`
    : amountProblem(read, money);
};

/** How much the typed amount exceeds the reserves; null when it does not, or is no amount. */
export const missing = (text: string, available: string, money: Money): string | null => {
  const read = readAmount(text);
  if (read === null || amountProblem(read, money) !== null) return null;
  const short = parseAmount(read, money.decimals) - (toScaled(available, money.decimals) ?? 0n);
  return short > 0n ? formatAmount(short, money.decimals) : null;
};

/** The form of a funding. It turns the typed amount into a plain decimal string. */
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

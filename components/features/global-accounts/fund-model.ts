import { z } from "zod";
import { isDomainError } from "@/lib/core/errors";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { toScaled } from "@/components/features/swap/decimal";

interface Money {
  readonly currency: string;
  readonly decimals: number;
}

/** Describes the fault of a typed amount; null when there is none. */
export const amountProblem = (text: string, { currency, decimals }: Money): string | null => {
  if (text.trim() === "") return "Type an amount.";
  try {
    parseAmount(text.trim(), decimals);
    return null;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    if (error.code === "amount_precision")
      return `${currency} has ${String(decimals)} digits after the point, no more.`;
    return 'Type an amount above zero, such as "12.5".';
  }
};

/** By how much the amount is more than what is there; null where it is not, or is no amount. */
export const missing = (text: string, available: string, money: Money): string | null => {
  if (amountProblem(text, money) !== null) return null;
  const short = parseAmount(text.trim(), money.decimals) - (toScaled(available, money.decimals) ?? 0n);
  return short > 0n ? formatAmount(short, money.decimals) : null;
};

/** The typed amount, trimmed and possible for the currency. */
export const fundForm = (money: Money) =>
  z.object({
    amount: z
      .string()
      .trim()
      .superRefine((text, context) => {
        const message = amountProblem(text, money);
        if (message !== null) context.addIssue({ code: "custom", message });
      }),
  });

import { toScaled } from "@/components/features/swap/decimal";

const COIN_DIGITS = 18;
/** A budget is low below a tenth of its limit. */
const LOW_PART = 10n;

interface Budget {
  readonly dailyLimit: string;
  readonly remaining: string;
}

const base = (coins: string): bigint => toScaled(coins, COIN_DIGITS) ?? 0n;

/** Budgets with less than a tenth left today. A limit of zero is intended and is not reported. */
export const lowBudgets = <Of extends Budget>(budgets: readonly Of[]): Of[] =>
  budgets.filter(
    ({ dailyLimit, remaining }) =>
      base(dailyLimit) > 0n && base(remaining) * LOW_PART < base(dailyLimit),
  );

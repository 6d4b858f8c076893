/** Exact sums of decimal strings, for caps. */
import { readDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { EffectivePolicy, Movement, UsageUnit } from "./facts";

/** Fraction digits with which caps are compared and usage is stored. */
export const DIGITS = 18;

/**
 * A decimal string as a whole number of 10^-18, rounded up, because it counts against a cap.
 * @throws Error when the text is no decimal string
 */
export const atto = (text: string): bigint => {
  const decimal = readDecimal(text);
  if (decimal === null) throw new Error(`${text} is no decimal string.`);
  return scaledTo(decimal, DIGITS, "ceil");
};

export const fromAtto = (value: bigint): string => formatAmount(value, DIGITS);

/** The movements that a policy bounds: those of its wallet, or all. */
export const boundBy = (
  { scope, subjectId }: Pick<EffectivePolicy, "scope" | "subjectId">,
  movements: readonly Movement[],
): readonly Movement[] => (scope === "wallet" ? movements.filter(({ walletId }) => walletId === subjectId) : movements);

/** The movements that a policy bounds and whose amounts count towards its sums. */
export const countedBy = (
  policy: Pick<EffectivePolicy, "scope" | "subjectId">,
  movements: readonly Movement[],
): readonly Movement[] =>
  boundBy(policy, movements).filter(
    ({ countsIn }) => countsIn === "all" || (countsIn === "wallet" && policy.scope === "wallet"),
  );

/** The sum in US dollars; null when the worth of one of them is unknown or zero, because a payment is never worth nothing. */
export const usdOf = (movements: readonly Pick<Movement, "usd">[]): bigint | null => {
  let sum = 0n;
  for (const { usd } of movements) {
    const worth = usd === null ? 0n : atto(usd);
    if (worth <= 0n) return null;
    sum += worth;
  }
  return sum;
};

export const assetSum = (movements: readonly Movement[], asset: string): bigint =>
  movements.reduce((sum, each) => (each.asset === asset ? sum + atto(each.amount) : sum), 0n);

export const assetUnit = (asset: string): UsageUnit => `asset:${asset}`;

/** The amounts that the movements add to the units of the policy's daily caps, in 10^-18. Unknown worth adds nothing: such a movement is refused. */
export const usageOf = (
  { rules }: Pick<EffectivePolicy, "rules">,
  movements: readonly Movement[],
): { unit: UsageUnit; adds: bigint }[] => {
  const usd = usdOf(movements) ?? 0n;
  return [
    ...(rules.perDay?.usd === undefined ? [] : [{ unit: "usd", adds: usd }]),
    ...(rules.code?.mode === "exempt" ? [{ unit: "usd_without_code", adds: usd }] : []),
    ...(rules.perDay?.assets ?? []).map(({ asset }) => ({ unit: assetUnit(asset), adds: assetSum(movements, asset) })),
  ];
};

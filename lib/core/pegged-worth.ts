import { worthOf } from "./decimal";
import { formatAmount } from "./money";

const USD_DECIMALS = 6;

export interface WorthPart {
  readonly amountBase: bigint;
  readonly decimals: number;
  /** Whether the chain's configuration defines one token as one dollar. */
  readonly isPegged: boolean;
}

/**
 * The sum in US dollars of amounts of dollar tokens, rounded down. Null when a token is not pegged
 * to the dollar, or there are no amounts.
 * @example peggedWorth([{ amountBase: 1_500_000n, decimals: 6, isPegged: true }]) // "1.5"
 */
export const peggedWorth = (parts: readonly WorthPart[]): string | null =>
  parts.length === 0 || !parts.every((part) => part.isPegged)
    ? null
    : formatAmount(
        parts.reduce(
          (sum, part) => sum + worthOf({ ...part, price: "1" }, USD_DECIMALS, "floor"),
          0n,
        ),
        USD_DECIMALS,
      );

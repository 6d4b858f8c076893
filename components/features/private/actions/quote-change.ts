import type { PrivateQuote } from "../types";

interface Promised {
  readonly expected: Pick<PrivateQuote["expected"], "amountBase">;
  readonly minimum: Pick<PrivateQuote["minimum"], "amountBase">;
}

/** Less promised, or less expected, than in the quote that was seen. */
export const isWorse = (seen: Promised, fresh: Promised): boolean =>
  BigInt(fresh.minimum.amountBase) < BigInt(seen.minimum.amountBase) ||
  BigInt(fresh.expected.amountBase) < BigInt(seen.expected.amountBase);

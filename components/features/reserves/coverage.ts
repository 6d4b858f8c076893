import { countText, shareText } from "@/lib/core/amount-text";
import type { Reserve } from "./use-reserves";

const TENTHS_OF_PERCENT = 1000n;
/**
 * Number of decimals to which amounts are scaled. It exceeds the decimals of every token, and the
 * ratio does not depend on it.
 */
const DIGITS = 36;

/** Parses an amount of the API, which may be negative. */
const scaled = (amount: string): bigint => {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(DIGITS, "0"));
};

/**
 * The backing of the accounts in relation to their liabilities, in tenths of a percent, rounded
 * down so that it is never overstated. Null when the accounts hold nothing.
 */
export const coverageTenths = ({
  onChain,
  committed,
  liabilities,
}: Pick<Reserve, "onChain" | "committed" | "liabilities">): bigint | null => {
  const owed = scaled(liabilities);
  if (owed === 0n) return null;
  const backing = scaled(onChain) - scaled(committed);
  return backing <= 0n ? 0n : (backing * TENTHS_OF_PERCENT) / owed;
};

const PERCENT_SHOWN_MAX = 9_999;
const TENTHS = 10n;

/** `103.4 %`; values above 9,999 % give `> 9,999 %`. */
export const coverageText = (tenths: bigint, locale?: string): string =>
  tenths / TENTHS > BigInt(PERCENT_SHOWN_MAX)
    ? `> ${countText(PERCENT_SHOWN_MAX, locale)} %`
    : shareText(Number(tenths), false, locale);

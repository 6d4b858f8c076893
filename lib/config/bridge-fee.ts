/** Configuration of the fees and limits of a bridge with relayers. */
import { z } from "zod";
import { parseDecimal, scaledTo } from "@/lib/core/decimal";

const FRACTION_DIGITS_MAX = 18;
const decimal = z.string().regex(/^\d{1,18}(\.\d{1,18})?$/, 'must be a decimal string like "0.05"');

const scaled = (text: string): bigint => scaledTo(parseDecimal(text), FRACTION_DIGITS_MAX, "floor");
const isMore = (one: string, other: string): boolean => scaled(one) > scaled(other);

/** The fee that a relayer of the bridge asks for a fill on this chain: the gas it pays here, and a margin. */
export const relayerFee = z.object({
  /** Gas of a fill; and of the calls that a message with it makes, when coins are unwrapped or swapped there. */
  fillGas: z.int().min(21_000),
  messageGas: z.int().min(0),
  /** The relayer's margin: a fixed part in US dollars, and of each slice of the amount up to `upToUsd` a share in basis points. */
  marginUsd: decimal,
  marginTiers: z.array(z.object({ upToUsd: decimal.optional(), bps: z.int().min(0).max(1000) })).min(1),
});

/** Whether larger amounts pay a smaller share: `upToUsd` rises and only the last tier has none, and `bps` falls. */
export const areFallingTiers = (tiers: z.output<typeof relayerFee>["marginTiers"]): boolean =>
  tiers.every(({ upToUsd, bps }, index) => {
    const before = tiers[index - 1];
    const isLast = index === tiers.length - 1;
    if (isLast !== (upToUsd === undefined)) return false;
    if (before === undefined) return true;
    return bps < before.bps && (upToUsd === undefined || isMore(upToUsd, before.upToUsd ?? "0"));
  });

/** In whole units of the token. */
export const depositLimits = z
  .object({ min: decimal, max: decimal })
  .partial()
  .refine(({ min, max }) => min === undefined || max === undefined || !isMore(min, max), "min is above max");

export const retiredFee = z
  .undefined({ error: "is not supported any more; set fillGas, messageGas, marginUsd and marginTiers" })
  .optional();

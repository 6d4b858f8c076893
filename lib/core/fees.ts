import { bpsOfCeil } from "./money";
import { divide, parseDecimal, scaledTo } from "./decimal";

// Computes the amount to withdraw from a private note so that an exact amount arrives after fees.
// Amounts are in base units, fees in basis points.

/**
 * The smallest gross amount from which at least `net` remains after the fee, in base units. The
 * remainder is exactly `net` when `feeOf` grows by at most one for each base unit.
 * @param feeOf the fee of a gross amount; at most half of it
 */
export const grossUp = (net: bigint, feeOf: (gross: bigint) => bigint): bigint => {
  let low = net;
  let high = net * 2n + 1n;
  while (low < high) {
    const middle = (low + high) / 2n;
    if (middle - feeOf(middle) >= net) high = middle;
    else low = middle + 1n;
  }
  return low;
};

/**
 * Returns a function that computes a fee of `bps` basis points as the contracts do, rounded down.
 */
export const feeFloor =
  (bps: number) =>
  (gross: bigint): bigint =>
    (gross * BigInt(bps)) / 10_000n;

/** The amount to withdraw from a note so that an address receives exactly `net`, in base units. */
export const grossForAddress = (net: bigint, relayFeeBps: number): bigint =>
  grossUp(net, feeFloor(relayFeeBps));

/**
 * The amount to withdraw from a note so that a new note is worth exactly `net`, in base units. The
 * relayer's fee is taken first, then the fee of the pool.
 */
export const grossForNote = (
  net: bigint,
  fees: { relayFeeBps: number; shieldFeeBps: number },
): bigint =>
  grossUp(grossUp(net, feeFloor(fees.shieldFeeBps)), (gross) =>
    bpsOfCeil(gross, fees.relayFeeBps),
  );

/**
 * The largest amount that can arrive when a whole note is spent, in base units.
 * @param grossOf the amount to withdraw for a net amount, for example `grossForAddress`
 */
export const netOf = (valueBase: bigint, grossOf: (net: bigint) => bigint): bigint => {
  let low = 0n;
  let high = valueBase;
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (grossOf(middle) <= valueBase) low = middle;
    else high = middle - 1n;
  }
  return low;
};

// Computes the fee of a relayer of an intent bridge for a fill. US dollars are multiples of 10^-18.

const USD_DECIMALS = 18;
const WEI_DECIMALS = 18;

/**
 * Each step is about a quarter above the previous one (the preferred numbers R10), so that fees
 * stay readable.
 */
const STEPS = [100n, 125n, 160n, 200n, 250n, 315n, 400n, 500n, 630n, 800n, 1000n] as const;
const STEP_UNIT = 100n;

/**
 * A slice of the amount, and the share of it that is charged. The slice ends at `upToUsd`; the last
 * slice has no limit.
 */
interface MarginTier {
  readonly upToUsd?: string | undefined;
  readonly bps: number;
}

interface RelayerMargin {
  readonly marginUsd: string;
  /** Ordered by `upToUsd`. */
  readonly marginTiers: readonly MarginTier[];
}

interface FillCost {
  readonly gas: bigint;
  /** In wei per gas. */
  readonly gasPriceWei: bigint;
  /** US dollars per whole coin of the destination chain. */
  readonly coinUsd: bigint;
}

/** Parses US dollars in decimal form from the configuration; digits after the 18th are cut off. */
export const parseUsd = (text: string): bigint =>
  scaledTo(parseDecimal(text), USD_DECIMALS, "floor");

/**
 * The gas of a fill. `messageGas` is added for a deposit with a message, which the destination
 * chain executes.
 */
export const fillGasOf = (
  { fillGas, messageGas }: { readonly fillGas: number; readonly messageGas: number },
  hasMessage: boolean,
): bigint => BigInt(fillGas) + (hasMessage ? BigInt(messageGas) : 0n);

/** The cost of the fill's transaction, in units of 10^-18 US dollars, rounded up. */
export const fillCostUsd = ({ gas, gasPriceWei, coinUsd }: FillCost): bigint =>
  divide(gas * gasPriceWei * coinUsd, 10n ** BigInt(WEI_DECIMALS), "ceil");

/**
 * The lowest step that is not below the value; steps are about 25 % apart. A fee in steps stays the
 * same while the price behind it moves a little, so an executed quote has the fee that was shown.
 * @example steppedUp(101n) // 125n
 */
export const steppedUp = (value: bigint): bigint => {
  const scale = 10n ** BigInt(value.toString().length - 1);
  const step = STEPS.map((each) => divide(each * scale, STEP_UNIT, "ceil")).find(
    (each) => each >= value,
  );
  if (step === undefined)
    throw new RangeError("No step is above the value, which must be negative.");
  return step;
};

/** A value must pass the border of its step by this share before another step applies. */
const STAY_PERCENT = 5n;

/**
 * Like `steppedUp`, except that a value near the border of the previous step stays on it. Otherwise
 * a price that moves back and forth around a border would change the fee with each quote. A fee on
 * the previous step can be below the cost, but by less than 5 %.
 * @param before the previous step; undefined for the first value
 * @example steadyStep(127n, 125n) // 125n
 * @example steadyStep(124n, 160n) // 160n
 */
export const steadyStep = (value: bigint, before: bigint | undefined): bigint => {
  const step = steppedUp(value);
  if (before === undefined) return step;
  const isHardlyAbove = step > before && value * 100n <= before * (100n + STAY_PERCENT);
  const isHardlyBelow =
    step < before &&
    steppedUp(step + 1n) === before &&
    value * 100n >= step * (100n - STAY_PERCENT);
  return isHardlyAbove || isHardlyBelow ? before : step;
};

/**
 * The relayer's margin in dollars, rounded up: the fixed part, plus the share of its tier for each
 * slice of the amount. The margin grows with the amount, while its share of the amount falls.
 * @param amountUsd the deposited amount, in dollars
 */
export const relayerMarginUsd = (
  { marginUsd, marginTiers }: RelayerMargin,
  amountUsd: bigint,
): bigint => {
  let margin = parseUsd(marginUsd);
  let from = 0n;
  for (const { upToUsd, bps } of marginTiers) {
    const to =
      upToUsd === undefined || parseUsd(upToUsd) > amountUsd ? amountUsd : parseUsd(upToUsd);
    if (to > from) margin += bpsOfCeil(to - from, bps);
    from = to;
  }
  return margin;
};

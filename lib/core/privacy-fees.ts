/** Computes the withdrawal from a private note with which an exact amount arrives after fees. Amounts in base units, fees in basis points. */
import { bpsOfCeil } from "./money";

/**
 * The smallest gross amount from which at least `net` remains after the fee, in base units. The remainder is exactly `net` when
 * `feeOf` grows by at most one for each base unit.
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

/** Returns a function that computes a fee of `bps` basis points as the contracts do, rounded down. */
export const feeFloor =
  (bps: number) =>
  (gross: bigint): bigint =>
    (gross * BigInt(bps)) / 10_000n;

/** The amount to withdraw from a note so that an address receives exactly `net`, in base units. */
export const grossForAddress = (net: bigint, relayFeeBps: number): bigint => grossUp(net, feeFloor(relayFeeBps));

/**
 * The amount to withdraw from a note so that a new note is worth exactly `net`, in base units. The relayer's fee is taken first, then the
 * fee of the pool.
 */
export const grossForNote = (net: bigint, fees: { relayFeeBps: number; shieldFeeBps: number }): bigint =>
  grossUp(grossUp(net, feeFloor(fees.shieldFeeBps)), (gross) => bpsOfCeil(gross, fees.relayFeeBps));

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

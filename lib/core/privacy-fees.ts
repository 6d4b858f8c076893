/** The amount that has to leave a private note so that an exact amount arrives after fees. Amounts in base units, fees in basis points. */
import { bpsOfCeil } from "./money";

/** Smallest gross amount that leaves `net` after its fee. Fees grow by one unit at most, so that `net` is met exactly. */
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

/** A share as the contracts take it: rounded down. */
export const feeFloor =
  (bps: number) =>
  (gross: bigint): bigint =>
    (gross * BigInt(bps)) / 10_000n;

/** The amount that has to leave a note so that an address receives exactly `net`. */
export const grossForAddress = (net: bigint, relayFeeBps: number): bigint => grossUp(net, feeFloor(relayFeeBps));

/** The amount that has to leave a note so that a new note is worth exactly `net`: the relayer's fee comes first, then the pool's. */
export const grossForNote = (net: bigint, fees: { relayFeeBps: number; shieldFeeBps: number }): bigint =>
  grossUp(grossUp(net, feeFloor(fees.shieldFeeBps)), (gross) => bpsOfCeil(gross, fees.relayFeeBps));

/** The most that can arrive out of a note. */
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

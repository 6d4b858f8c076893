import { bpsOfCeil } from "@/lib/core/money";

/** Smallest gross amount of which `net` is left when its fee is taken. Fees grow by one unit at most, so that `net` is met exactly. */
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

/** What has to leave a note so that an address gets exactly `net`. */
export const grossForAddress = (net: bigint, relayFeeBps: number): bigint => grossUp(net, feeFloor(relayFeeBps));

/** What has to leave a note so that a new note is worth exactly `net`: the relayer's fee comes first, then the pool's. */
export const grossForNote = (net: bigint, fees: { relayFeeBps: number; shieldFeeBps: number }): bigint =>
  grossUp(grossUp(net, feeFloor(fees.shieldFeeBps)), (gross) => bpsOfCeil(gross, fees.relayFeeBps));

export interface SpendableNote {
  readonly id: string;
  readonly valueBase: bigint;
}

export interface PlannedSpend {
  readonly noteId: string;
  /** What leaves the note. */
  readonly withdrawBase: bigint;
  /** What arrives of it. */
  readonly outBase: bigint;
}

/** The most that can arrive out of a note. */
const netOf = (valueBase: bigint, grossOf: (net: bigint) => bigint): bigint => {
  let low = 0n;
  let high = valueBase;
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (grossOf(middle) <= valueBase) low = middle;
    else high = middle - 1n;
  }
  return low;
};

/**
 * Which notes bring `amountBase` to the recipient: the smallest that suffices alone, else the largest first. Each withdrawal takes one
 * note, so that fewer notes cost less time and say less. Null where all together do not suffice.
 * @param minimumBase what each part has to bring at least, where a pool asks for it
 */
export const planSpends = (
  notes: readonly SpendableNote[],
  amountBase: bigint,
  { grossOf, minimumBase = 1n }: { grossOf: (net: bigint) => bigint; minimumBase?: bigint },
): PlannedSpend[] | null => {
  const rising = [...notes].sort((one, other) =>
    one.valueBase < other.valueBase ? -1 : one.valueBase > other.valueBase ? 1 : 0,
  );
  const alone = rising.find(({ valueBase }) => valueBase >= grossOf(amountBase));
  if (alone !== undefined) return [{ noteId: alone.id, withdrawBase: grossOf(amountBase), outBase: amountBase }];
  const parts: { noteId: string; outBase: bigint }[] = [];
  let left = amountBase;
  for (const { id, valueBase } of rising.reverse()) {
    if (left === 0n) break;
    const most = netOf(valueBase, grossOf);
    if (most < minimumBase) break;
    const outBase = most < left ? most : left;
    parts.push({ noteId: id, outBase });
    left -= outBase;
  }
  const [last, before] = [parts.at(-1), parts.at(-2)];
  if (left > 0n || last === undefined) return null;
  if (last.outBase < minimumBase && before !== undefined) {
    const missing = minimumBase - last.outBase;
    if (before.outBase - missing < minimumBase) return null;
    last.outBase += missing;
    before.outBase -= missing;
  }
  return parts.map((part) => ({ ...part, withdrawBase: grossOf(part.outBase) }));
};

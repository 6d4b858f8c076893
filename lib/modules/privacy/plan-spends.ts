import { netOf } from "@/lib/core/privacy-fees";

export interface SpendableNote {
  readonly id: string;
  readonly valueBase: bigint;
}

export interface PlannedSpend {
  readonly noteId: string;
  /** The amount that leaves the note, in base units. */
  readonly withdrawBase: bigint;
  /** The part of it that the recipient gets, in base units. */
  readonly outBase: bigint;
}

/**
 * Chooses the notes that bring `amountBase` to the recipient: the smallest note that suffices alone, or else the largest notes first. Each
 * withdrawal spends one note, so fewer notes take less time and disclose less.
 * @param grossOf the withdrawal, fees included, that brings a net amount; in base units
 * @param minimumBase the least that each part has to bring, when a pool has a minimum; in base units
 * @returns null when all notes together do not suffice
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

import { netOf } from "@/lib/core/privacy-fees";

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

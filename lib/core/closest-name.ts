/** Finds the known name that a misspelt name most likely stands for. */

/** Ignores case, underscores, hyphens and spaces: `validate_only` equals `validateOnly`. */
const plain = (name: string): string => name.toLowerCase().replace(/[_\-\s]/g, "");

/**
 * Names longer than this are not compared, because the comparison costs the product of both
 * lengths.
 */
const LENGTH_MAX = 60;

/**
 * Number of letters to insert, remove, replace or swap with their neighbour to turn one name into
 * the other (optimal string alignment).
 */
const distance = (one: string, other: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (isSame ? 0 : 1),
          row > 1 && column > 1 && isSwapped
            ? (beforeLast[column - 2] ?? 0) + 1
            : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
};

/** The number of letters that may differ: a third of the name, and at least one. */
const allowed = (name: string): number => Math.max(1, Math.floor(name.length / 3));

/**
 * The known name with the smallest edit distance to `given`; null when none is similar.
 * @example closestName("recipents", ["name", "recipients"]) // "recipients"
 */
export const closestName = (given: string, known: readonly string[]): string | null => {
  if (given.length > LENGTH_MAX) return null;
  const name = plain(given);
  let closest: { readonly name: string; readonly edits: number } | null = null;
  for (const each of known) {
    const other = plain(each);
    // The edit distance is at least the difference of the lengths, so such a name cannot be close.
    if (Math.abs(other.length - name.length) > allowed(name)) continue;
    const edits = distance(name, other);
    if (
      edits < name.length &&
      edits <= allowed(name) &&
      (closest === null || edits < closest.edits)
    )
      closest = { name: each, edits };
  }
  return closest?.name ?? null;
};

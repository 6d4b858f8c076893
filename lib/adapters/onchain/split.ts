/**
 * `outputs[i][k]`: the output of path i for k steps of the amount, null where it was not queried. `outputs[i][0]` is
 * taken as 0.
 */
export type OutputTable = readonly (readonly (bigint | null)[])[];

/**
 * The best way to spread `steps` equal steps over the paths, by dynamic programming over path and steps.
 * Returns the steps of each path (they sum to `steps`), or null when the known entries cannot sum to it.
 * With `outputs[i][steps]` known for every path the result is never worse than the best single path.
 */
export const bestSplit = (outputs: OutputTable, steps: number): readonly number[] | null => {
  let best: (bigint | null)[] = Array.from({ length: steps + 1 }, (_, used) => (used === 0 ? 0n : null));
  const choices: (number | null)[][] = [];
  for (const outs of outputs) {
    const next: (bigint | null)[] = Array.from({ length: steps + 1 }, () => null);
    const choice: (number | null)[] = Array.from({ length: steps + 1 }, () => null);
    for (let used = 0; used <= steps; used += 1) {
      const before = best[used] ?? null;
      if (before === null) continue;
      for (let take = 0; used + take <= steps; take += 1) {
        const out = take === 0 ? 0n : (outs[take] ?? null);
        if (out === null) continue;
        const total = before + out;
        const known = next[used + take] ?? null;
        if (known === null || total > known) {
          next[used + take] = total;
          choice[used + take] = take;
        }
      }
    }
    best = next;
    choices.push(choice);
  }
  return walkBack(choices, steps);
};

const walkBack = (choices: readonly (readonly (number | null)[])[], steps: number): readonly number[] | null => {
  const taken: number[] = [];
  let left = steps;
  for (const choice of choices.toReversed()) {
    const take = choice[left] ?? null;
    if (take === null) return null;
    taken.unshift(take);
    left -= take;
  }
  return left === 0 ? taken : null;
};

/** The amount at grid point `step`, rounded down. */
export const gridAmount = (amount: bigint, step: number, steps: number): bigint =>
  (amount * BigInt(step)) / BigInt(steps);

/**
 * `total` divided in proportion to `weights`, each part rounded down and the remainder given to the largest part:
 * the parts sum to `total` exactly.
 */
export const shareOut = (total: bigint, weights: readonly bigint[]): readonly bigint[] => {
  const sum = weights.reduce((a, b) => a + b, 0n);
  if (sum === 0n) throw new RangeError("Weights that sum to nothing cannot share an amount.");
  const parts = weights.map((weight) => (total * weight) / sum);
  const largest = weights.reduce((best, weight, index) => (weight > (weights[best] ?? 0n) ? index : best), 0);
  const rest = total - parts.reduce((a, b) => a + b, 0n);
  return parts.map((part, index) => (index === largest ? part + rest : part));
};

/**
 * `minimum` divided in proportion to the expected outputs, each part rounded up: together they guarantee at least
 * `minimum`, and no part exceeds what is expected of it as long as `minimum` is not above the sum of `expected`.
 */
export const shareMinima = (minimum: bigint, expected: readonly bigint[]): readonly bigint[] => {
  const sum = expected.reduce((a, b) => a + b, 0n);
  if (sum === 0n) throw new RangeError("Expected outputs that sum to nothing cannot share a minimum.");
  return expected.map((out) => (minimum * out + sum - 1n) / sum);
};

interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Never pay more than this many times the network's suggested fee. */
const FACTOR_MAX = 5n;

/** Nodes take a replacement only when both fees are higher by at least an eighth. */
const withEighth = (fee: bigint): bigint => (fee * 9n + 7n) / 8n + 1n;

const higher = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/**
 * Fees of the replacement: at least an eighth above `present`, and at least the network's `suggested` ones. Null when
 * that would be far above the suggestion: the fee is then not the reason why the transaction is not mined. Null as well
 * when it would be above the chain's cap: the transaction then waits until the price falls.
 */
export const raisedFees = (present: Fees, suggested: Fees, cap: bigint | null): Fees | null => {
  const maxFeePerGas = higher(withEighth(present.maxFeePerGas), suggested.maxFeePerGas);
  const maxPriorityFeePerGas = higher(withEighth(present.maxPriorityFeePerGas), suggested.maxPriorityFeePerGas);
  if (maxFeePerGas > suggested.maxFeePerGas * FACTOR_MAX) return null;
  if (cap !== null && higher(maxFeePerGas, maxPriorityFeePerGas) > cap) return null;
  return { maxFeePerGas: higher(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
};

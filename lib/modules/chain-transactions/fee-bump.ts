interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Never pay more than so many times what the network asks for now. */
const FACTOR_MAX = 5n;

/** Nodes take a replacement only when both fees are higher by at least an eighth. */
const withEighth = (fee: bigint): bigint => (fee * 9n + 7n) / 8n + 1n;

const higher = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/**
 * Fees of the next version: at least an eighth above `present`, at least what the network `suggested`.
 * Null when that would pay far more than it asks for: then the fee is not what keeps the transaction back.
 */
export const raisedFees = (present: Fees, suggested: Fees): Fees | null => {
  const maxFeePerGas = higher(withEighth(present.maxFeePerGas), suggested.maxFeePerGas);
  const maxPriorityFeePerGas = higher(withEighth(present.maxPriorityFeePerGas), suggested.maxPriorityFeePerGas);
  if (maxFeePerGas > suggested.maxFeePerGas * FACTOR_MAX) return null;
  return { maxFeePerGas: higher(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
};

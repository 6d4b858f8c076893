/** How far a chain's fee is above the configured cap. In wei per gas. */
export interface FeeExcess {
  /** The price per gas of a transaction in the next block. */
  readonly pricePerGas: bigint;
  readonly capPerGas: bigint;
}

/** Fees in wei per gas (EIP-1559) that never exceed the chain's cap. */
export interface CappedFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Null when a transaction with these fees can be mined now. */
  readonly aboveCap: FeeExcess | null;
}

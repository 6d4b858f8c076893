/**
 * The largest chain id that can be configured and stored: the maximum of PostgreSQL's `integer`.
 * EIP-155 has no limit.
 */
export const CHAIN_ID_MAX = 2_147_483_647;

/** An address on an EVM chain in hex, with or without its checksum (EIP-55). */
export type EvmAddress = `0x${string}`;

/** One call by a smart account or wallet. `value` in wei. */
export interface Call {
  readonly to: EvmAddress;
  readonly data: `0x${string}`;
  readonly value: bigint;
}

/**
 * The part of an event log of `eth_getTransactionReceipt` that the service uses; `logIndex` as a
 * number.
 */
export interface ReceiptLog {
  readonly address: EvmAddress;
  readonly topics: readonly `0x${string}`[];
  readonly data: `0x${string}`;
  readonly logIndex: number;
}

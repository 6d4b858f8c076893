/** One of the service's own transactions, as stored. */
import type { Tx } from "@/lib/platform/db/client";
import type { EvmAddress } from "@/lib/core/evm";
import type { BundledOperation } from "@/lib/chain/ports/transactions";

type Hex = `0x${string}`;
export type TransactionStatus = "signed" | "broadcast" | "mined" | "final";

/** Signed bytes and their content. Fees in wei per gas. */
export interface SignedVersion {
  readonly nonce: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly raw: Hex;
  readonly hash: Hex;
}

export interface TransactionRow {
  readonly id: string;
  readonly chainId: number;
  readonly from: EvmAddress;
  readonly purpose: string;
  readonly to: EvmAddress;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  readonly createdAt: Date;
}

export interface StoredTransaction extends SignedVersion, TransactionRow {
  /** Earlier versions; any of them may be the one that is mined. */
  readonly replacedHashes: readonly Hex[];
  readonly status: TransactionStatus;
  readonly minedHash: Hex | null;
  readonly blockNumber: bigint | null;
  /** When a node first accepted the latest version. */
  readonly broadcastAt: Date | null;
  readonly updatedAt: Date;
}

export interface NewTransactionRow {
  readonly row: TransactionRow;
  /** The first nonce, for an account that has sent nothing on this chain yet. */
  readonly firstNonce: bigint;
  readonly carries: readonly BundledOperation[];
  /**
   * Runs in the transaction that stores the row. Returns false when the row is no longer needed;
   * nothing is stored then.
   */
  readonly claim?: ((tx: Tx) => Promise<boolean>) | undefined;
  /**
   * Signs with the given nonce. Must not use the database or the network, because the nonce's row
   * is locked.
   */
  readonly sign: (nonce: bigint) => Promise<SignedVersion>;
}

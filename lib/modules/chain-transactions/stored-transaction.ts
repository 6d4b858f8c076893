/** A transaction of the service's own, as it is stored. */
import type { Tx } from "@/lib/db/client";
import type { EvmAddress } from "@/lib/ports/routing";
import type { BundledOperation } from "@/lib/ports/transactions";

type Hex = `0x${string}`;
export type TransactionStatus = "signed" | "broadcast" | "mined" | "final";

/** Signed bytes and what they say. Fees in wei per gas. */
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
  /** When a node first accepted its latest version. */
  readonly broadcastAt: Date | null;
  readonly updatedAt: Date;
}

export interface NewTransactionRow {
  readonly row: TransactionRow;
  /** The first nonce, for an account that has sent nothing on this chain yet. */
  readonly firstNonce: bigint;
  readonly carries: readonly BundledOperation[];
  /** Runs in the transaction that stores the row. Returns false where the row is not wanted any more; nothing is stored then. */
  readonly claim?: ((tx: Tx) => Promise<boolean>) | undefined;
  /** Signs with the given nonce. Must not use the database or the network, because the nonce's row is locked. */
  readonly sign: (nonce: bigint) => Promise<SignedVersion>;
}

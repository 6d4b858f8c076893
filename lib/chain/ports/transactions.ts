import type { EvmAddress } from "@/lib/core/evm";

type Hex = `0x${string}`;

/** A transaction (EIP-1559) that one of the service's own keys signs and pays for. */
export interface NewTransaction {
  readonly chainId: number;
  /** Id of the service's key that signs the transaction and pays for it. */
  readonly keyId: string;
  /**
   * The reason for the transaction, unique on its chain. A second call with the same purpose never
   * uses a second nonce.
   */
  readonly purpose: string;
  readonly to: EvmAddress;
  readonly data: Hex;
  /** Amount of coins that is sent with the transaction, in wei. */
  readonly value: bigint;
  readonly gas: bigint;
  /** In wei per gas (EIP-1559). The fees are raised when the transaction is stuck. */
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };
  /**
   * The user operations (ERC-4337) in this transaction. The transaction is stored with all of them,
   * or not at all.
   */
  readonly carries?: readonly BundledOperation[];
}

export interface PlannedTransaction {
  readonly chainId: number;
  readonly to: EvmAddress;
  /** The maximum cost, in wei. */
  readonly costWei: bigint;
}

export interface ExecutorKey {
  readonly keyId: string;
  readonly address: EvmAddress;
}

/**
 * A user operation in a bundle transaction. On each chain, a user operation is in one stored
 * transaction at a time.
 */
export interface BundledOperation {
  readonly userOpHash: Hex;
  /**
   * Id of the earlier transaction with this user operation, which reverted; null if there was none.
   */
  readonly after: string | null;
}

/** The latest transaction that contains a user operation. */
export interface BundleTransaction {
  readonly transaction: SentTransaction;
  /** The number of transactions that contained the user operation, including this one. */
  readonly attempts: number;
}

/** Another transaction already contains some of the user operations. Nothing was stored. */
export class BundledElsewhereError extends Error {}

export interface SentTransaction {
  readonly id: string;
  /** Hash of the latest version. Raising the fees changes the hash. */
  readonly hash: Hex;
  /**
   * `signed`: stored, but no node is known to have it. `final`: mined, with the chain's number of
   * confirmations; it may have reverted.
   */
  readonly status: "signed" | "broadcast" | "mined" | "final";
  /** Hash of the version that was mined; null before that. */
  readonly minedHash: Hex | null;
}

/**
 * Sends the service's own transactions. Each transaction is stored with its signed bytes before a
 * node receives it.
 * @example
 * const purpose = `deploy:${wallet}`;
 * const { id } = await sender.send({ chainId, keyId, purpose, to, data, value: 0n, gas: 500_000n, fees });
 * const sent = await sender.find(chainId, purpose); // sent.status === "final" after enough confirmations
 */
export interface TransactionSender {
  /**
   * The executor key with the least work on the chain.
   * @throws DomainError `chain_unavailable`
   */
  chooseKey(planned: PlannedTransaction): Promise<ExecutorKey>;
  /**
   * Stores the transaction and broadcasts it once. Resolves even when the node refuses it, because
   * the stored transaction is broadcast again until it is mined. A second call with the same
   * purpose broadcasts and returns the stored transaction.
   * @throws DomainError `provider_error` when the account cannot pay for the transaction (then
   * nothing is stored), `chain_unavailable`
   * @throws BundledElsewhereError when another transaction contains some of the operations
   */
  send(transaction: NewTransaction): Promise<SentTransaction>;
  /** Broadcasts a stored transaction again, unless it was mined. */
  resend(transactionId: string): Promise<void>;
  /**
   * The latest transactions by the hash of their user operation. The map lacks user operations that
   * are in no transaction.
   */
  bundleTransactionsOf(
    chainId: number,
    userOpHashes: readonly Hex[],
  ): Promise<ReadonlyMap<Hex, BundleTransaction>>;
  /** The stored transaction with this purpose; null when there is none. */
  find(chainId: number, purpose: string): Promise<SentTransaction | null>;
}

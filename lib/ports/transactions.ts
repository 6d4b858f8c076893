import type { EvmAddress } from "./routing";

type Hex = `0x${string}`;

/** A transaction of the service's own account. */
export interface NewTransaction {
  readonly chainId: number;
  /** Which of the service's keys signs and pays. */
  readonly keyId: string;
  /** What it does, once per chain: the same purpose never gets a second nonce. */
  readonly purpose: string;
  readonly to: EvmAddress;
  readonly data: Hex;
  /** In wei. */
  readonly value: bigint;
  readonly gas: bigint;
  /** In wei per gas; raised by the service when the transaction is stuck. */
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };
  /** User operations that it carries. It is stored with all of them or not at all. */
  readonly carries?: readonly BundledOperation[];
}

/** A user operation inside a transaction. On each chain it is in one stored transaction at a time. */
export interface BundledOperation {
  readonly userOpHash: Hex;
  /** Id of the transaction that carried it before and reverted; null for the first one. */
  readonly after: string | null;
}

/** The transaction in which a user operation is now. */
export interface BundleTransaction {
  readonly transaction: SentTransaction;
  /** How many transactions carried it, this one included. */
  readonly attempts: number;
}

/** Another transaction carries some of the operations by now; nothing was stored. */
export class BundledElsewhereError extends Error {}

export interface SentTransaction {
  readonly id: string;
  /** Of its latest version; a fee bump changes it. */
  readonly hash: Hex;
  /** `signed`: stored, and not known to have reached a node. `final`: mined and at the chain's depth, reverted or not. */
  readonly status: "signed" | "broadcast" | "mined" | "final";
  /** Of the version that was mined. */
  readonly minedHash: Hex | null;
}

/** Sends the service's own transactions, each stored with its signed bytes before a node sees it. */
export interface TransactionSender {
  /**
   * Resolves once it is stored and was offered to a node, whatever the node answered: from then on it will be mined
   * sooner or later. The same purpose again answers with the stored one and offers that again.
   * @throws DomainError `provider_error` when the account cannot pay for it (nothing is stored then), `chain_unavailable`;
   * BundledElsewhereError
   */
  send(transaction: NewTransaction): Promise<SentTransaction>;
  /** Offers a stored transaction once more, unless it was mined. */
  resend(transactionId: string): Promise<void>;
  /** By user operation; those that no transaction carries are missing. */
  bundleTransactionsOf(chainId: number, userOpHashes: readonly Hex[]): Promise<ReadonlyMap<Hex, BundleTransaction>>;
  find(chainId: number, purpose: string): Promise<SentTransaction | null>;
}

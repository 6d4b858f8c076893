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
}

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
   * @throws DomainError `provider_error` when the account cannot pay for it (nothing is stored then), `chain_unavailable`
   */
  send(transaction: NewTransaction): Promise<SentTransaction>;
  find(chainId: number, purpose: string): Promise<SentTransaction | null>;
}

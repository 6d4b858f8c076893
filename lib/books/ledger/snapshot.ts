/** The state that decides a batch of commands. Ids have their prefix; amounts are in base units. */
export interface Snapshot {
  readonly accounts: Map<string, Account>;
  /** The transactions that commands of the batch reverse, by transaction id. */
  readonly sourceTransactions: Map<string, SourceTransaction>;
  /** The stored results of earlier commands, by the hash of the idempotency key. */
  readonly answers: Map<string, Answer>;
}

export interface Account {
  readonly id: string;
  readonly projectId: string;
  readonly currency: string;
  readonly kind: AccountKind;
  readonly status: AccountStatus;
  /** The minimum balance; null when there is no limit. */
  readonly minimum: bigint | null;
  balance: bigint;
  version: bigint;
  lastSeq: bigint;
  /** Milliseconds since 1970. */
  updatedAt: number;
}

export type AccountKind = "customer" | "treasury_reserve" | "withdrawal_transit" | "external";
/**
 * Entries, including those of reversals, are posted only to active accounts. The only exception is
 * the amount that a withdrawal returns, which is also posted to a frozen account. A closed account
 * is empty and stays closed.
 */
export type AccountStatus = "active" | "frozen" | "closed";

export interface SourceTransaction {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  /** Empty for a refused transaction. */
  readonly entries: readonly { readonly accountId: string; readonly amountBase: bigint }[];
  reversed: boolean;
}

export interface Entry {
  readonly accountId: string;
  readonly seq: bigint;
  readonly transactionId: string;
  readonly currency: string;
  readonly amountBase: bigint;
  readonly balanceAfterBase: bigint;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Answer {
  readonly transactionId: string;
  readonly digest: string;
  readonly at: Date;
  readonly rejection: Rejection | null;
}

export const REJECTION_CODES = [
  "unknown_account",
  "wrong_currency",
  "account_frozen",
  "same_account",
  "invalid_amount",
  "amount_too_large",
  "insufficient_balance",
  "insufficient_reserves",
  "invalid_rows",
  "unknown_transaction",
  "not_reversible",
  "already_reversed",
  "idempotency_mismatch",
] as const;

export type RejectionCode = (typeof REJECTION_CODES)[number];

export interface RejectedRow {
  readonly index: number;
  readonly code: RejectionCode;
}

/** Why a command was refused. Has only values that JSON can represent, because it is stored. */
export interface Rejection {
  readonly code: RejectionCode;
  readonly accountId?: string;
  readonly missingBase?: string;
  /** All invalid rows of a batch. */
  readonly rows?: readonly RejectedRow[];
}

export interface Posted {
  readonly posted: true;
  readonly transactionId: string;
  readonly at: Date;
  /** True when the key was used before and this is the stored answer. */
  readonly replayed: boolean;
}

export interface Refused {
  readonly posted: false;
  /** Null when another request has used the key. Nothing was stored for this command then. */
  readonly transactionId: string | null;
  readonly at: Date;
  readonly replayed: boolean;
  readonly rejection: Rejection;
}

export type Outcome = Posted | Refused;

export const emptySnapshot = (): Snapshot => ({
  accounts: new Map(),
  sourceTransactions: new Map(),
  answers: new Map(),
});

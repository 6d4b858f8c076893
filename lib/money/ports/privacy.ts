import type { Token } from "@/lib/core/token";
import type { Call, EvmAddress } from "@/lib/core/evm";

type Hex = `0x${string}`;

/** A pool that holds one asset on one chain. Its withdrawals cannot be linked to its deposits. */
export interface PrivacyPool {
  readonly chainId: number;
  readonly token: Token;
  readonly address: EvmAddress;
  /** Smallest deposit, in base units. */
  readonly minimumBase: bigint;
  /** The pool's fee for a deposit, in basis points. */
  readonly shieldFeeBps: number;
  /** The fee of the service's relayer for a withdrawal, in basis points. */
  readonly relayFeeBps: number;
  /** Whether notes can be swapped, and sent to other private wallets. */
  readonly mayProcess: boolean;
}

/** A private wallet. The mnemonic is secret; `id` identifies the wallet in caches. */
export interface PrivateWalletKey {
  readonly id: string;
  readonly mnemonic: string;
}

/** Money in a pool. Only the owner of the wallet's mnemonic can move it. */
export interface PrivateNote {
  readonly chainId: number;
  readonly token: Token;
  /** The commitment, a decimal string; unique on its chain. */
  readonly id: string;
  /** Identifies the deposit that the note comes from, a decimal string. */
  readonly label: string;
  readonly valueBase: bigint;
  /**
   * `approved`: in the association set, so it can be spent. `pending`: not decided yet. `declined`:
   * only the public exit is possible.
   */
  readonly state: "approved" | "pending" | "declined";
  readonly depositor: EvmAddress;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

export interface PrivateHoldings {
  readonly chainId: number;
  readonly notes: readonly PrivateNote[];
  /** The lowest deposit number that is not used on the chain, by pool address. */
  readonly nextDepositIndex: ReadonlyMap<EvmAddress, number>;
  /**
   * The exclusive limit for the numbers of new deposits, by pool address. A scan by mnemonic and
   * chain would not find a deposit with this number or a larger one.
   */
  readonly depositIndexLimit: ReadonlyMap<EvmAddress, number>;
  /**
   * The number of approved deposits that did not use the public exit, by pool address. A withdrawal
   * can come from any of them.
   */
  readonly anonymitySet: ReadonlyMap<EvmAddress, number>;
}

/** A deposit number of a wallet. The secrets of the new note are derived from it. */
export interface DepositSlot {
  readonly wallet: PrivateWalletKey;
  readonly index: number;
}

export interface ShieldPlan {
  /** Calls that are executed all or none. */
  readonly calls: readonly Call[];
  /** The value of the new note, in base units. */
  readonly noteBase: bigint;
  /** Identifies the deposit on the chain, a decimal string. */
  readonly precommitment: string;
}

/**
 * Withdraws a note without a proof of association (ragequit). The withdrawal is publicly linked to
 * its deposit.
 */
export interface ExitPlan {
  /** Calls that are executed all or none. */
  readonly calls: readonly Call[];
  readonly pool: EvmAddress;
  readonly valueBase: bigint;
}

/** Withdraws an amount from a note. The rest stays in the wallet as a new note. */
export type Spend = {
  readonly chainId: number;
  readonly token: Token;
  readonly wallet: PrivateWalletKey;
  readonly noteId: string;
  readonly withdrawBase: bigint;
} & (
  | { readonly to: "address"; readonly recipient: EvmAddress }
  | {
      /** A new note of the slot's wallet, in the same pool or, after a swap, in another pool. */
      readonly to: "note";
      readonly slot: DepositSlot;
      readonly tokenOut: Token;
      /** The path of a `PrivateSwapPrice`; null when the asset is not changed. */
      readonly path: Hex | null;
      /** The minimum output of the swap, in base units of `tokenOut`. */
      readonly minimumOutBase: bigint;
      /** The address that may withdraw the new note by the public exit. */
      readonly exitOwner: EvmAddress;
      /** The contracts refuse the proof after this time. */
      readonly deadline: Date;
    }
);

/** A transaction that any address may send. Its proof fixes the recipient and all amounts. */
export interface SpendTransaction {
  readonly to: EvmAddress;
  readonly data: Hex;
  /** Identifies the spent note on the chain, a decimal string. */
  readonly nullifierHash: string;
}

export interface PrivateSwapPrice {
  readonly path: Hex;
  readonly outBase: bigint;
}

export interface SpendOutcome {
  readonly success: boolean;
  readonly blockNumber: bigint;
  /** The amount that the recipient got, or the value of the new note, in base units. */
  readonly receivedBase: bigint;
}

/** The mined transaction that executed a spend. */
export interface SpentBy {
  readonly txHash: Hex;
  /**
   * Whether the block is final, so that no reorganisation is expected to remove the transaction.
   */
  readonly isFinal: boolean;
}

export type SpendRefusal =
  /** The pool's tree or the association set has changed, so a new proof is needed. */
  | "moved"
  | "spent"
  /**
   * A swap would return less than its minimum, a deadline has passed, or the recipient rejects the
   * money.
   */
  | "refused";

/** The note or its association set cannot be used yet, or the node does not have the note yet. */
export class NotReadyError extends Error {}

/** The note does not exist, or was spent. */
export class NoteGoneError extends Error {}

/**
 * Private balances with zero-knowledge proofs. An engine stores only data that can be derived from
 * the mnemonics and the chains. Amounts in base units.
 * @example
 * const { notes } = await engine.holdings(wallet, chainId, signal);
 * const spend = { chainId, token, wallet, noteId: notes[0].id, withdrawBase: 1_000_000n, to: "address", recipient } as const;
 * const transaction = await engine.prove(spend, signal);
 * const checked = await engine.check(chainId, transaction); // {gas} or {refusal}
 */
export interface PrivacyEngine {
  readonly id: string;
  readonly name: string;
  /** Display name of the exchange on which notes are swapped. */
  readonly swapVenue: string;
  /** A new random mnemonic (BIP-39), which is secret. */
  newMnemonic(): string;
  /** All pools of the chain. @throws DomainError `chain_unavailable` */
  pools(chainId: number): Promise<readonly PrivacyPool[]>;
  /**
   * The notes of a wallet. The engine finds them with only the mnemonic and the chain.
   * @throws DomainError `chain_unavailable`, `provider_error`
   */
  holdings(
    wallet: PrivateWalletKey,
    chainId: number,
    signal: AbortSignal,
  ): Promise<PrivateHoldings>;
  /**
   * Plans a deposit with the secrets of a slot.
   * @throws DomainError `unknown_pool`, `chain_unavailable`
   */
  shield(input: {
    readonly chainId: number;
    readonly token: Token;
    readonly amountBase: bigint;
    readonly slot: DepositSlot;
  }): Promise<ShieldPlan>;
  /**
   * Plans the withdrawal of a whole note to `owner` by the pool's public exit, and makes a small
   * proof. The contracts require that `owner` deposited the note, or is registered as the owner of
   * a note that the processor contract deposited.
   * @throws NoteGoneError, NotReadyError, DomainError `chain_unavailable`; the signal's reason
   */
  exit(
    input: {
      readonly chainId: number;
      readonly token: Token;
      readonly wallet: PrivateWalletKey;
      readonly noteId: string;
      readonly owner: EvmAddress;
    },
    signal: AbortSignal,
  ): Promise<ExitPlan>;
  /** The best swap path over one or two pools of the chain's exchange; null when there is none. */
  priceSwap(input: {
    readonly from: Token;
    readonly to: Token;
    readonly amountBase: bigint;
  }): Promise<PrivateSwapPrice | null>;
  /**
   * Makes the proof of a spend, which takes seconds. Proofs run one at a time; `onStart` is called
   * when this proof begins.
   * @throws NotReadyError, NoteGoneError, DomainError `chain_unavailable`, `provider_error`; the
   * signal's reason
   */
  prove(spend: Spend, signal: AbortSignal, onStart?: () => void): Promise<SpendTransaction>;
  /**
   * The gas that a transaction needs, or the reason why it would revert now.
   * @throws DomainError `chain_unavailable`
   */
  check(
    chainId: number,
    transaction: Pick<SpendTransaction, "to" | "data">,
  ): Promise<{ readonly gas: bigint } | { readonly refusal: SpendRefusal }>;
  /**
   * The effect of a transaction; null when it is not mined.
   * @throws DomainError `chain_unavailable`
   */
  outcome(chainId: number, txHash: Hex): Promise<SpendOutcome | null>;
  /**
   * The transaction that spent the note with exactly this amount, to exactly this recipient or
   * slot, whoever sent the transaction. Null when the note is not spent, or was spent differently.
   * The engine finds the transaction with only the mnemonic and the chain.
   * @throws DomainError `chain_unavailable`, `provider_error`
   */
  spentBy(spend: Spend): Promise<SpentBy | null>;
  /** The expected duration of a proof on this machine, in milliseconds. */
  expectedProofMs(): number;
  /** Ends running proofs and frees the engine's resources. */
  close(): void;
}

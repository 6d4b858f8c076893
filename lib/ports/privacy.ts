import type { Token } from "@/lib/core/token";
import type { Call, EvmAddress } from "./routing";

type Hex = `0x${string}`;

/** Where one asset can be private on one chain. */
export interface PrivacyPool {
  readonly chainId: number;
  readonly token: Token;
  readonly address: EvmAddress;
  /** Smallest deposit, in base units. */
  readonly minimumBase: bigint;
  /** What the pool keeps of a deposit, in basis points. */
  readonly shieldFeeBps: number;
  /** What the service's relayer takes of a withdrawal, in basis points. */
  readonly relayFeeBps: number;
  /** Whether notes can be swapped, and given to other private wallets. */
  readonly mayProcess: boolean;
}

/** Whose notes are meant. The mnemonic is a secret; `id` names the wallet in caches. */
export interface PrivateWalletKey {
  readonly id: string;
  readonly mnemonic: string;
}

/** Money in a pool that only the wallet's mnemonic can move. */
export interface PrivateNote {
  readonly chainId: number;
  readonly token: Token;
  /** The commitment, a decimal string; unique on its chain. */
  readonly id: string;
  /** Of the deposit that the note comes from, a decimal string. */
  readonly label: string;
  readonly valueBase: bigint;
  /** `approved`: in the association set, can be spent. `pending`: not yet. `declined`: can leave by its public exit alone. */
  readonly state: "approved" | "pending" | "declined";
  readonly depositor: EvmAddress;
  /** Transaction and block in which the note came to be. */
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

export interface PrivateHoldings {
  readonly chainId: number;
  readonly notes: readonly PrivateNote[];
  /** By pool address: the first deposit number that the chain does not show as used. */
  readonly nextDepositIndex: ReadonlyMap<EvmAddress, number>;
  /**
   * By pool address: deposits have to have smaller numbers. One that is this far behind the last final deposit would not be found by
   * mnemonic and chain alone.
   */
  readonly depositIndexLimit: ReadonlyMap<EvmAddress, number>;
  /** By pool address: approved deposits that have not left by the public exit. A withdrawal hides among them. */
  readonly anonymitySet: ReadonlyMap<EvmAddress, number>;
}

/** The wallet's deposit number in a pool, from which the new note's secrets follow. */
export interface DepositSlot {
  readonly wallet: PrivateWalletKey;
  readonly index: number;
}

export interface ShieldPlan {
  /** For the treasury, all or none. */
  readonly calls: readonly Call[];
  /** What the new note is worth. */
  readonly noteBase: bigint;
  /** Names the deposit on the chain, a decimal string. */
  readonly precommitment: string;
}

/** A note's way out without a proof of association: everybody sees which deposit it was. */
export interface ExitPlan {
  /** For the owner, all or none. */
  readonly calls: readonly Call[];
  readonly pool: EvmAddress;
  readonly valueBase: bigint;
}

/** Takes an amount out of a note; what is left stays the wallet's, as a new note. */
export type Spend = {
  readonly chainId: number;
  readonly token: Token;
  readonly wallet: PrivateWalletKey;
  readonly noteId: string;
  readonly withdrawBase: bigint;
} & (
  | { readonly to: "address"; readonly recipient: EvmAddress }
  | {
      /** A new note of the slot's wallet, in the same pool or after a swap in another one. */
      readonly to: "note";
      readonly slot: DepositSlot;
      readonly tokenOut: Token;
      /** Of `PrivateSwapPrice`; null where the asset is not changed. */
      readonly path: Hex | null;
      /** What must be there to be deposited. */
      readonly minimumOutBase: bigint;
      /** Who may take the new note out by its public exit. */
      readonly exitOwner: EvmAddress;
      /** After this the proof is worth nothing. */
      readonly deadline: Date;
    }
);

/** A transaction that anybody may send: what it does is bound by its proof. */
export interface SpendTransaction {
  readonly to: EvmAddress;
  readonly data: Hex;
  /** Of the spent note, a decimal string. */
  readonly nullifierHash: string;
}

export interface PrivateSwapPrice {
  readonly path: Hex;
  /** What the swap brings. */
  readonly outBase: bigint;
}

/** What a mined transaction did. */
export interface SpendOutcome {
  readonly success: boolean;
  readonly blockNumber: bigint;
  /** What the recipient got, or what the new note is worth. */
  readonly receivedBase: bigint;
}

export type SpendRefusal =
  /** The pool's trees or the association set moved on: a new proof is needed. */
  | "moved"
  /** The note was spent. */
  | "spent"
  /** A swap would bring less than its minimum, a deadline passed, or a recipient refuses. */
  | "refused";

/** The note, or the set that it needs, cannot be used now; later it may. Also a note that the node has not seen yet. */
export class NotReadyError extends Error {}

/** The note does not exist, or was spent. */
export class NoteGoneError extends Error {}

/**
 * Private balances with zero-knowledge proofs. It keeps nothing that matters: all follows from mnemonics and the chains.
 * Amounts in base units.
 */
export interface PrivacyEngine {
  readonly id: string;
  /** Shown to people. */
  readonly name: string;
  newMnemonic(): string;
  /** @throws DomainError `chain_unavailable` */
  pools(chainId: number): Promise<readonly PrivacyPool[]>;
  /** What the wallet has, by mnemonic and chain alone. @throws DomainError `chain_unavailable`, `provider_error` */
  holdings(wallet: PrivateWalletKey, chainId: number, signal: AbortSignal): Promise<PrivateHoldings>;
  shield(input: {
    readonly chainId: number;
    readonly token: Token;
    readonly amountBase: bigint;
    readonly slot: DepositSlot;
  }): Promise<ShieldPlan>;
  /**
   * Takes a whole note out by the pool's public exit, to `owner`, who must have deposited it, or be named as the owner of a note that
   * the processor deposited. The contracts check that. Makes a small proof.
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
  /** Best path over one or two pools of the chain's exchange; null where there is none. */
  priceSwap(input: {
    readonly from: Token;
    readonly to: Token;
    readonly amountBase: bigint;
  }): Promise<PrivateSwapPrice | null>;
  /**
   * Makes the proof of a spend; takes seconds. One at a time; `onStart` is called when its turn comes.
   * @throws NotReadyError, NoteGoneError, DomainError `chain_unavailable`, `provider_error`; the signal's reason
   */
  prove(spend: Spend, signal: AbortSignal, onStart?: () => void): Promise<SpendTransaction>;
  /** Gas that it takes, or why it would revert now. @throws DomainError `chain_unavailable` */
  check(
    chainId: number,
    transaction: Pick<SpendTransaction, "to" | "data">,
  ): Promise<{ readonly gas: bigint } | { readonly refusal: SpendRefusal }>;
  /** What a mined transaction did; null where it is not mined. @throws DomainError `chain_unavailable` */
  outcome(chainId: number, txHash: Hex): Promise<SpendOutcome | null>;
  /** Milliseconds that a proof takes on this machine. */
  expectedProofMs(): number;
  close(): void;
}

/** Whether money may be signed for with this database, and the moves that it lost. */
import { z } from "zod";

export interface SigningOff {
  readonly isAllowed: false;
  readonly since: Date;
  /** Completes a sentence: the database is on another server … */
  readonly reason: string;
}

export type SigningState = { readonly isAllowed: true; readonly hasLostMoves: boolean } | SigningOff;

/** A payment of a move that the database lost: what a wallet gave, and to whom. `amount` is in whole units of the token. */
export const storedPayments = z.array(
  z.object({ to: z.string(), token: z.string(), symbol: z.string(), amount: z.string() }),
);
export type Payment = z.output<typeof storedPayments>[number];

/** A move that a chain shows and no row of the database explains. */
export interface UnknownMove {
  readonly chainId: number;
  /** Of the user operation, or of the service's own transaction. */
  readonly hash: string;
  readonly txHash: string;
  readonly blockNumber: bigint;
  /** Null: no wallet of the database sent it. */
  readonly projectId: string | null;
  readonly walletAddress: string | null;
  readonly payments: readonly Payment[];
  /** Call data and logs in lower-case hex: every address that the move may have paid is in it. */
  readonly payload: string;
}

/** A recipient who was paid by a move that the database lost and a person accepted. */
export interface LostPayment {
  readonly recipient: string;
  readonly chainId: number;
  readonly hash: string;
  readonly text: string;
}

/** @example "25 USDC to 0x7099…, 1 ETH to 0x3C44…" */
export const paymentsText = (payments: readonly Payment[]): string =>
  payments.length === 0
    ? "no payment that can be read"
    : payments.map(({ amount, symbol, to }) => `${amount} ${symbol} to ${to}`).join(", ");

/** Which person or command changes it, and why. */
export interface Decided {
  readonly by: string;
  readonly reason: string;
  readonly at: Date;
}

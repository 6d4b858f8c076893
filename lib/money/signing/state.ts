/** Whether the service may sign for money with this database, and the movements missing from it. */
import { z } from "zod";

export interface SigningOff {
  readonly isAllowed: false;
  readonly since: Date;
  /** Why signing is off, as the end of a sentence: "the database is on another server …". */
  readonly reason: string;
}

export type SigningState =
  | { readonly isAllowed: true; readonly hasLostMoves: boolean }
  | SigningOff;

/**
 * The payments of a movement that is missing from the database. `amount` is in whole units of the
 * token.
 */
export const storedPayments = z.array(
  z.object({ to: z.string(), token: z.string(), symbol: z.string(), amount: z.string() }),
);
export type Payment = z.output<typeof storedPayments>[number];

/** A payment by a movement that is missing from the database and that a person has accepted. */
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

export interface Decided {
  readonly by: string;
  readonly reason: string;
  readonly at: Date;
}

import type { ReactNode } from "react";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import type { prepareSwap, requestOtp } from "@/lib/contracts/swap";

export type SentCode = ResponseOf<typeof requestOtp>;
export type Prepared = ResponseOf<typeof prepareSwap>;

/** A second factor in place of a mailed code. */
export type FactorProof = { readonly totp: string } | { readonly passkey: PasskeyAssertion };

/**
 * The proof by which a person approves a payment: a mailed code, or the answer of a second factor.
 */
export type MoneyProof = { readonly otp: string } | FactorProof;

/** The id field in the bodies of request-otp, prepare and execute. */
export type MoveIds = { readonly quoteId: string } | { readonly transferId: string };

/** The promised amounts; decimal strings in units of the token. */
export interface Promised {
  readonly amount: string;
  readonly minAmount: string;
  readonly token: { readonly symbol: string };
}

/** One thing that a person approves and executes: a quote, or a transfer. */
export interface MoveSubject {
  readonly ids: MoveIds;
  /** For headings and buttons: `swap` → "Approve the swap", "Execute swap". */
  readonly noun: "swap" | "transfer" | "retry";
  /** How many sources the code approves. */
  readonly sources: number;
  readonly to: Promised & { readonly address: string; readonly chainId: number };
  /** RFC 3339. When the quote or transfer expires; preparing it again does not extend this. */
  readonly expiresAt: string | null;
  /**
   * Renders the whole review, with no address shortened. `to` is the fresh price that will be
   * executed.
   */
  readonly receipt: (to: Prepared["to"]) => ReactNode;
  /**
   * JSON from which the page restores the subject; without it the flow does not survive a reload.
   */
  readonly stored?: unknown;
  /**
   * Reads the quote with the new price from a `quote_price_moved` error, so that the person can
   * approve it; null when the error contains none.
   */
  readonly movedTo?: (error: unknown) => MoveSubject | null;
}

import type { ReactNode } from "react";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import type { prepareSwap, requestOtp } from "@/lib/contracts/swap";

export type SentCode = ResponseOf<typeof requestOtp>;
export type Prepared = ResponseOf<typeof prepareSwap>;

export type FactorProof = { readonly totp: string } | { readonly passkey: PasskeyAssertion };

export type MoneyProof = { readonly otp: string } | FactorProof;

/** The id field in the bodies of request-otp, prepare and execute. */
export type MoveIds = { readonly quoteId: string } | { readonly transferId: string };

/** The quoted amounts; decimal strings in units of the token. */
export interface Promised {
  readonly amount: string;
  readonly minAmount: string;
  readonly token: { readonly symbol: string };
}

export interface MoveSubject {
  readonly ids: MoveIds;
  /** For headings and buttons: `swap` → "Approve the swap", "Execute swap". */
  readonly noun: "swap" | "transfer" | "retry";
  /** The number of sources that the code approves. */
  readonly sources: number;
  readonly to: Promised & { readonly address: string; readonly chainId: number };
  /**
   * Time at which the quote or transfer expires, RFC 3339. Preparing it again does not extend this
   * time.
   */
  readonly expiresAt: string | null;
  /**
   * Renders the complete review; addresses are not shortened. `to` has the fresh price that will be
   * executed.
   */
  readonly receipt: (to: Prepared["to"]) => ReactNode;
  /**
   * JSON from which the page restores the subject after a reload. Without it, a reload ends the
   * flow.
   */
  readonly stored?: unknown;
  /**
   * Reads the quote with the new price from a `quote_price_moved` error, so that the person can
   * approve it. Null when the error contains no quote.
   */
  readonly movedTo?: (error: unknown) => MoveSubject | null;
}

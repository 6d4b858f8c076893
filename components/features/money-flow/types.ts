import type { ReactNode } from "react";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import type { createQuote, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import type { Warning } from "@/lib/contracts/warnings";

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
  readonly token: { readonly symbol: string; readonly address: string };
}

/** Who pays a network fee; null while that is not known. */
export type Payer = "sponsor" | "wallet" | null;

/** An amount that leaves a wallet. */
export interface MoveSource {
  readonly address: string;
  readonly chainId: number;
  readonly amount: string;
  /** `address`: 0x address or `native`. */
  readonly token: { readonly symbol: string; readonly address: string };
}

/** The facts on the receipt that a person approves. */
export interface MovePromise {
  readonly from: readonly MoveSource[];
  readonly to: Promised & { readonly address: string; readonly chainId: number };
  readonly warnings: readonly Warning[];
  /** The payer of each source's network fee. */
  readonly networkFees: readonly Payer[];
}

export interface MoveSubject extends MovePromise {
  readonly ids: MoveIds;
  /** For headings and buttons: `swap` → "Review the swap". */
  readonly noun: "swap" | "transfer" | "retry";
  /** Label of the button that approves: `Swap 200.00 USDC`, or `Ask for 2 approvals`. */
  readonly act: string;
  /** The votes that the movement needs; null when the code of one person suffices. */
  readonly votes: ResponseOf<typeof createQuote>["votes"];
  /**
   * Time at which the quote or transfer expires, RFC 3339. Preparing it again does not extend this
   * time.
   */
  readonly expiresAt: string | null;
  /**
   * Renders the complete receipt; addresses are not shortened. `to` has the amounts that the
   * person approves or, after the preparation, the amounts that are executed.
   */
  readonly receipt: (to: MovePromise["to"]) => ReactNode;
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

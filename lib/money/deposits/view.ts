import type { Token } from "@/lib/core/token";
import type { Deposit } from "./rows";
import type { DustSum } from "./rows";

/** A deposit as it is shown. */
export interface DepositView {
  readonly deposit: Deposit;
  readonly token: Token;
  /** The newest block of its chain that was searched. */
  readonly seenNumber: bigint;
  /** Whether a person may release it now. */
  readonly mayRelease: boolean;
}

/** Deposits of a token into a wallet that are too small to be shown one by one. */
export interface DustView {
  readonly sum: DustSum;
  readonly token: Token;
}

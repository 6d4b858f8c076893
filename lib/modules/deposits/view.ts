import type { Token } from "@/lib/core/token";
import type { Deposit } from "./deposit";

/** A deposit as it is shown. */
export interface DepositView {
  readonly deposit: Deposit;
  readonly token: Token;
  /** The newest block of its chain that was searched. */
  readonly seenNumber: bigint;
  /** Whether a person may let it go now. */
  readonly mayRelease: boolean;
}

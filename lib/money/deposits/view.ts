import type { Token } from "@/lib/core/token";
import type { Deposit } from "./rows";
import type { DustSum } from "./rows";

export interface DepositView {
  readonly deposit: Deposit;
  readonly token: Token;
  /** The newest searched block of the deposit's chain. */
  readonly seenNumber: bigint;
  readonly mayRelease: boolean;
}

export interface DustView {
  readonly sum: DustSum;
  readonly token: Token;
}

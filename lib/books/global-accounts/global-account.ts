import type { Asset } from "@/lib/chain/assets";
import type { AccountRecord } from "@/lib/books/ledger/service";

/** An account and its asset. `asset` is null when no configured chain lists it any more. */
export interface GlobalAccount {
  readonly account: AccountRecord;
  /** The part of the balance that open payouts will take, in ledger units; at most the balance. */
  readonly pendingBase: bigint;
  readonly asset: Asset | null;
}

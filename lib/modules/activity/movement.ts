/** A movement of money of any kind, with everything that a list shows of it. */
import type { ACTIVITY_KINDS } from "@/lib/contracts/activity";
import type { Asset } from "@/lib/chains/assets";
import type { Annotation } from "@/lib/modules/annotations/service";
import type { DepositView } from "@/lib/modules/deposits/service";
import type { FundingRecord } from "@/lib/modules/ledger/service";
import type { Operation } from "@/lib/modules/operations/service";
import type { PayoutMovement } from "@/lib/modules/payouts/service";
import type { PrivateTransfer } from "@/lib/modules/privacy/service";

export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** A movement as its own module lists it. */
export type Movement =
  | { readonly type: "operation"; readonly id: string; readonly operation: Operation }
  | { readonly type: "payout"; readonly id: string; readonly payout: PayoutMovement }
  | {
      readonly type: "funding";
      readonly id: string;
      readonly funding: FundingRecord;
      /** Null when no configured chain lists it any more. */
      readonly asset: Asset | null;
    };

export interface ActivityEntry {
  readonly movement: Movement;
  /** Of an operation that is a deposit. */
  readonly deposit: DepositView | null;
  /** Of a private operation. */
  readonly transfer: PrivateTransfer | null;
  readonly annotation: Annotation | null;
  /** US dollars as they were recorded, a decimal string; null where no price was. */
  readonly usd: string | null;
  /** The names of accounts of the page, by id. */
  readonly accountNames: ReadonlyMap<string, string>;
}

/** The data of a payout that its record shows. Some fields exist only for one kind of payout. */
import type { Asset } from "@/lib/chain/assets";
import type { ChainFacts } from "@/lib/chain/shown-chain";
import type { PayoutItemRow } from "./accounts/rows";
import type { AccountsPayout, WalletsPayout } from "./payout";
import type { BatchGroup, WalletItemRow } from "./wallets/read-repository";
import type { WalletPayout } from "./wallets/wallet-payout";

export interface AccountsPayoutParts {
  readonly kind: "global_accounts";
  readonly payout: AccountsPayout;
  /** The asset of the payout's currency; null when no configured chain has this asset any more. */
  readonly asset: Asset | null;
}

export interface WalletsPayoutParts {
  readonly kind: "wallets";
  readonly payout: WalletsPayout;
  readonly own: WalletPayout;
  readonly groups: readonly BatchGroup[];
}

/**
 * A payout with the fields that only its kind has. A payout that was only validated
 * (`validateOnly`) is not stored, and its id is empty.
 */
export type PayoutParts = AccountsPayoutParts | WalletsPayoutParts;

interface Shown {
  /** Worth in US dollars as recorded when the policies were evaluated; null when unknown. */
  readonly usd: string | null;
  /** True when another payout already retries the failed rows of this payout. */
  readonly isRetried: boolean;
}

export interface AccountsPayoutView extends AccountsPayoutParts, Shown {}

export interface WalletsPayoutView extends WalletsPayoutParts, Shown {
  readonly chains: ChainFacts;
  /** Price of the chain's native coin in US dollars; null when unknown. */
  readonly coinUsd: string | null;
}

export type PayoutView = AccountsPayoutView | WalletsPayoutView;

export type PayoutItems =
  | {
      readonly kind: "global_accounts";
      readonly view: AccountsPayoutView;
      readonly rows: readonly PayoutItemRow[];
    }
  | {
      readonly kind: "wallets";
      readonly view: WalletsPayoutView;
      readonly rows: readonly WalletItemRow[];
    };

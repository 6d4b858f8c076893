/** The worth of a payout in US dollars as its record has it. No price of today is used. */
import type { Asset } from "@/lib/chains/assets";
import { peggedWorth } from "@/lib/core/pegged-worth";
import { LEDGER_DECIMALS } from "@/lib/modules/ledger/service";
import type { AccountsPayout } from "./payout";
import type { WalletsPayoutParts } from "./wallets/service";

/** US dollars by evaluation of the policies. */
export type Worths = ReadonlyMap<string, string>;

const recorded = (worths: Worths, evaluationId: string | null): string | undefined => worths.get(evaluationId ?? "");

export const worthOfAccountsPayout = (payout: AccountsPayout, asset: Asset | null, worths: Worths): string | null => {
  const isPegged = asset !== null && asset.tokens.length > 0 && asset.tokens.every(({ usdPegged }) => usdPegged);
  return (
    recorded(worths, payout.evaluationId) ??
    peggedWorth([{ amountBase: payout.totalBase, decimals: LEDGER_DECIMALS, isPegged }])
  );
};

export const worthOfWalletsPayout = ({ payout, own }: WalletsPayoutParts, worths: Worths): string | null =>
  recorded(worths, payout.evaluationId) ??
  peggedWorth(
    own.totals.map(({ token, amountBase }) => ({ amountBase, decimals: token.decimals, isPegged: token.usdPegged })),
  );

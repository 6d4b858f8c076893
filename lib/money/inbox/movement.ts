/** The facts about a movement that a row of the inbox shows beside its title. */
import { formatAmount } from "@/lib/core/money";
import { isPrivateKind, movementWords } from "@/lib/core/movement-kinds";
import { sumsOfSources } from "@/lib/core/titles";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import type { Operation } from "@/lib/money/operations/service";
import type { PayoutView } from "@/lib/money/payouts/service";

export interface Movement {
  /** The kind in words: `Transfer`, `Payout to 148 wallets`. */
  readonly kind: string;
  /** The amounts that leave, one entry for each asset. Decimal amounts in units of the asset. */
  readonly amounts: readonly { readonly amount: string; readonly symbol: string }[];
  /** The chain of the recipient; null when the movement is not on a chain. */
  readonly chainId: number | null;
  /** The recipient; null when there are several recipients, or when the recipient is private. */
  readonly recipient: string | null;
  /** The name that the maker gave the movement. */
  readonly reference: string | null;
}

/**
 * The count and the noun, which gets an `s` unless the count is 1.
 * @example counted(2, "wallet") // "2 wallets"
 */
export const counted = (count: number, noun: string): string =>
  `${String(count)} ${noun}${count === 1 ? "" : "s"}`;

interface Total {
  readonly token: { readonly symbol: string; readonly decimals: number };
  readonly amountBase: bigint;
}

const amountsOf = (totals: readonly Total[]): Movement["amounts"] =>
  totals.map(({ token: { symbol, decimals }, amountBase }) => ({
    amount: formatAmount(amountBase, decimals),
    symbol,
  }));

/** The movement of an operation. The recipient of a private one is left out. */
export const movementOfOperation = ({ kind, request }: Operation): Movement => {
  const { sources, destination } = request;
  return {
    kind: movementWords(kind),
    amounts: amountsOf(
      sumsOfSources(sources).map(({ amountBase, ...token }) => ({ token, amountBase })),
    ),
    chainId: destination.token.chainId,
    recipient: isPrivateKind(kind) ? null : destination.recipient,
    reference: null,
  };
};

/** The movement of a payout. */
export const movementOfPayout = (view: PayoutView): Movement => {
  const { payout } = view;
  const { itemsTotal, reference } = payout;
  if (view.kind === "wallets") {
    const { totals, chainId } = view.own;
    const kind = `Payout to ${counted(itemsTotal, "wallet")}`;
    return { kind, amounts: amountsOf(totals), chainId, recipient: null, reference };
  }
  const amount = formatAmount(view.payout.totalBase, LEDGER_DECIMALS);
  return {
    kind: `Payout to ${counted(itemsTotal, "account")}`,
    amounts: [{ amount, symbol: view.asset?.symbol ?? view.payout.currency }],
    chainId: null,
    recipient: null,
    reference,
  };
};

/** The movement that a payout schedule repeats. */
export const movementOfSchedule = ({
  rows,
  totals,
  chainId,
  reference,
}: {
  readonly rows: number;
  readonly totals: readonly Total[];
  readonly chainId: number;
  readonly reference: string | null;
}): Movement => ({
  kind: `Scheduled payout to ${counted(rows, "wallet")}`,
  amounts: amountsOf(totals),
  chainId,
  recipient: null,
  reference,
});

"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { type ColumnTail, HeldAmount } from "@/components/ui/amount";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import { isZero } from "@/components/features/swap/decimal";
import type { MovingAmounts } from "./balance-tree";

/** Identifies a balance of one wallet. Without `walletId`, it is the sum over all wallets. */
interface BalancePlace {
  readonly token: string;
  readonly chainId?: number | undefined;
  readonly walletId?: string | undefined;
}

/** The forms that move a balance. `tokenName` is the query parameter that selects the token. */
const FORMS = [
  { path: "/swap", verb: "Swap", tokenName: "from" },
  { path: "/transfer", verb: "Send", tokenName: "token" },
  { path: "/receive", verb: "Receive", tokenName: "token" },
] as const;

const queryOf = (tokenName: string, { token, chainId, walletId }: BalancePlace): string => {
  const query = new URLSearchParams({ [tokenName]: token });
  if (chainId !== undefined) query.set("chain", String(chainId));
  if (walletId !== undefined) query.set("wallet", walletId);
  return query.toString();
};

export const BalanceActions = (place: BalancePlace): ReactNode => (
  <span className="inline-flex gap-x-3 text-sm">
    {FORMS.map(({ path, verb, tokenName }) => (
      <Link
        key={path}
        className="link"
        href={`${path}?${queryOf(tokenName, place)}`}
        aria-label={`${verb} ${place.token}`}
      >
        {verb}
      </Link>
    ))}
  </span>
);

const MOVES = [
  ["backing", "backs accounts"],
  ["reserved", "reserved"],
  ["pendingOut", "going out"],
  ["quarantined", "in quarantine"],
  ["pendingIn", "coming in"],
] as const;

interface AvailableAmountProps {
  readonly amounts: MovingAmounts;
  readonly unit: string;
  /** Alignment of the amount in a column of several tokens; see `columnTail`. */
  readonly column?: ColumnTail;
}

interface Move {
  readonly word: string;
  readonly amount: string;
}

/** In a wide table all parts are on one line. In a card each part has its own line. */
const PARTS_LOOKS =
  "ml-auto text-sm text-fg-3 @min-[44rem]:block @min-[44rem]:max-w-72 @min-[44rem]:truncate @min-[44rem]:pb-1 @min-[44rem]:*:not-last:mr-3 @max-[44rem]:flex @max-[44rem]:flex-col @max-[44rem]:items-end";

const titleOf = ({ amount }: MovingAmounts, moves: readonly Move[]): string =>
  [`Balance ${amount}`, ...moves.map((move) => `${move.amount} ${move.word}`)].join(", ");

/**
 * The amount that may be moved now. When it is less than the balance, the balance and its other
 * parts are shown below.
 */
export const AvailableAmount = ({ amounts, unit, column }: AvailableAmountProps): ReactNode => {
  const [hidden] = useHiddenAmounts();
  const moves = MOVES.flatMap(([part, word]) => {
    const amount = amounts[part];
    return isZero(amount) ? [] : [{ part, word, amount }];
  });
  return (
    <>
      <HeldAmount value={amounts.available} unit={unit} column={column} />
      {moves.length === 0 ? null : (
        <span className={PARTS_LOOKS} title={hidden ? undefined : titleOf(amounts, moves)}>
          <span>
            Balance <HeldAmount value={amounts.amount} symbol={unit} plain />
          </span>
          {moves.map(({ part, word, amount }) => (
            <span key={part}>
              <HeldAmount value={amount} symbol={unit} plain /> {word}
            </span>
          ))}
        </span>
      )}
    </>
  );
};

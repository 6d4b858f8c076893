import type { Payout } from "@/components/features/payouts/payout";
import { sumAmounts, usdValue } from "@/components/features/swap/decimal";
import type { ListedOperation } from "@/components/features/operations/operation";
import { flowOf } from "@/lib/core/movement-kinds";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Number of characters of the day in an RFC 3339 time: `2026-11-25`. */
const DAY_LENGTH = 10;

export interface DayFlow {
  /** In UTC. */
  readonly day: string;
  /** US dollars, decimal strings. */
  readonly in: string;
  readonly out: string;
}

interface FlowSources {
  readonly operations: readonly ListedOperation[];
  readonly payouts: readonly Payout[];
  /**
   * Lower-case addresses of the project's wallets. A move between them is neither an inflow nor an
   * outflow.
   */
  readonly wallets: ReadonlySet<string>;
  /** Current price of an asset in US dollars; null when unknown. */
  readonly priceOf: (assetId: string) => string | null;
}

export interface Flows {
  readonly days: readonly DayFlow[];
  /** Null when money moved but none of it has a price. */
  readonly in: string | null;
  readonly out: string | null;
  readonly unpriced: readonly string[];
}

interface Move {
  readonly day: string;
  readonly direction: "in" | "out";
  readonly amount: string;
  readonly token: { readonly symbol: string; readonly assetId: string };
}

const dayOf = (time: string): string => time.slice(0, DAY_LENGTH);

/**
 * The inflows and outflows of an operation. A deposit is an inflow. A leg to an address outside
 * the project is an outflow, including its fees, unless it was refunded.
 */
const movesOf = (
  { wallets }: FlowSources,
  { quoted, actual, legs, createdAt, kind }: ListedOperation,
): Move[] => {
  const day = dayOf(createdAt);
  const direction = flowOf(kind, wallets.has(quoted.to.address.toLowerCase()));
  if (direction === null) return [];
  if (direction === "in") return [{ ...actual.received, day, direction }];
  return legs.flatMap(({ spent, refund }) =>
    spent === null || refund !== null ? [] : [{ ...spent, day, direction }],
  );
};

/** The outflows of a payout. A payout to accounts moves no money out of the project. */
const movesOfPayout = (payout: Payout): Move[] =>
  payout.kind === "wallets"
    ? payout.totals.map(({ token, paid }) => ({
        day: dayOf(payout.createdAt),
        direction: "out",
        amount: paid,
        token,
      }))
    : [];

const isSomething = ({ amount }: Move): boolean => /[1-9]/.test(amount);

/**
 * The inflows and outflows of each of the last `dayCount` days, oldest first, at current prices.
 */
export const flowsOf = (sources: FlowSources, now: Date, dayCount: number): Flows => {
  const moves = [
    ...sources.operations.flatMap((operation) => movesOf(sources, operation)),
    ...sources.payouts.flatMap(movesOfPayout),
  ].filter(isSomething);
  const unpriced = new Set<string>();
  const worthOf = ({ amount, token }: Move): string[] => {
    const worth = usdValue(amount, sources.priceOf(token.assetId));
    if (worth === null) unpriced.add(token.symbol);
    return worth === null ? [] : [worth];
  };
  const worthsOf = (day: string, direction: Move["direction"]): string[] =>
    moves.filter((move) => move.day === day && move.direction === direction).flatMap(worthOf);
  const days = Array.from({ length: dayCount }, (_, index): DayFlow => {
    const day = dayOf(new Date(now.getTime() - (dayCount - 1 - index) * DAY_MS).toISOString());
    return { day, in: sumAmounts(worthsOf(day, "in")), out: sumAmounts(worthsOf(day, "out")) };
  });
  const totalOf = (direction: Move["direction"]): string | null => {
    const shown = moves.filter(
      (move) => move.direction === direction && days.some(({ day }) => day === move.day),
    );
    const worths = shown.flatMap(worthOf);
    return shown.length > 0 && worths.length === 0 ? null : sumAmounts(worths);
  };
  return {
    days,
    in: totalOf("in"),
    out: totalOf("out"),
    unpriced: [...unpriced],
  };
};

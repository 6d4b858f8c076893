import { compareAmounts, dropBps } from "./decimal";
import type { Quote } from "./tokens";

export interface RouteRow {
  /** Null for quotes that were stored before routes had ids. */
  readonly routeId: string | null;
  readonly name: string;
  /** Expected amount, in units of the received token. */
  readonly amount: string;
  readonly minAmount: string;
  readonly seconds: number;
  /** Whether the quote takes this route. */
  readonly isTaken: boolean;
  /** How much less this route brings than the best route, in basis points, rounded up. */
  readonly behindBps: number;
  readonly isBest: boolean;
}

type Step = Pick<Quote["steps"][number], "venue" | "from" | "to">;

const stepText = ({ from, to, venue }: Step): string =>
  `${from.symbol} → ${to.symbol}, ${venue}`;

const STEP = /^(?<way>.+), (?<venue>[^,]+)$/;
const SAME_TOKEN = /^(?<symbol>\S+) → \k<symbol>$/;
const ONE_POOL = /^\S+ → \S+(?<fee> [\d.]+ %)?$/;

/**
 * Shortens a step of a route as the service writes it: `USDC → WETH 0.05 %, A pool` becomes `A
 * pool 0.05 %`, and `USDC → USDC, A bridge` becomes `A bridge`, or `A bridge (USDC)` when another
 * token is sent.
 */
const shortStep = (text: string, sent: string): string => {
  const { way = "", venue } = STEP.exec(text)?.groups ?? {};
  if (venue === undefined) return text;
  const same = SAME_TOKEN.exec(way)?.groups?.symbol;
  if (same !== undefined) return same === sent ? venue : `${venue} (${same})`;
  const pool = ONE_POOL.exec(way);
  return pool === null ? `${venue}: ${way}` : `${venue}${pool.groups?.fee ?? ""}`;
};

/**
 * The name of a route, from its steps.
 * @example routeName(["USDC → USDC, A bridge", "USDC → WETH, A pool"]) // "A bridge → A pool"
 */
export const routeName = (steps: readonly string[]): string => {
  const sent = steps[0]?.split(" ")[0] ?? "";
  const names = steps.map((step) => shortStep(step, sent));
  return names.filter((name, index) => name !== names[index - 1]).join(" → ");
};

/** The steps of the route that the quote takes, in the words of the service, each once. */
const takenSteps = ({ steps }: Pick<Quote, "steps">): string[] => [
  ...new Set(steps.map(stepText)),
];

type Routed = Pick<Quote, "routeId" | "to" | "steps" | "estimatedSeconds" | "alternatives">;

/**
 * All routes of a quote, the best first.
 * @param names by route id, names from earlier quotes in which the service described the route more
 * exactly
 */
export const routeRows = (
  quote: Routed,
  names: ReadonlyMap<string, string> = new Map(),
): RouteRow[] => {
  const all = [
    {
      routeId: quote.routeId,
      name: names.get(quote.routeId ?? "") ?? routeName(takenSteps(quote)),
      amount: quote.to.amount,
      minAmount: quote.to.minAmount,
      seconds: quote.estimatedSeconds,
      isTaken: true,
    },
    ...quote.alternatives.map((other) => ({
      routeId: other.routeId,
      name: routeName(other.steps),
      amount: other.amount,
      minAmount: other.minAmount,
      seconds: other.estimatedSeconds,
      isTaken: false,
    })),
  ].sort((one, other) => compareAmounts(other.amount, one.amount));
  const best = all[0]?.amount ?? "0";
  return all.map((row, index) => ({
    ...row,
    behindBps: dropBps(best, row.amount),
    isBest: index === 0,
  }));
};

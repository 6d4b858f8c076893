import type {
  Leg,
  Operation,
  OperationEvent,
} from "@/components/features/operations/operation";
import { legSentence } from "@/components/features/operations/sentences";
import { isFinal } from "@/lib/core/status";
import {
  type FlowHop,
  type FlowLeg,
  type FlowModel,
  type FlowTransaction,
  type FlowWords,
  plannedLeg,
  TURN_AT,
} from "./layout";

interface Surroundings extends FlowWords {
  readonly events: readonly OperationEvent[];
  readonly nowMs: number;
}

const isHop = (step: { readonly kind: string; readonly venue: string }): step is FlowHop =>
  step.kind !== "transfer";

const eventsOf = (events: readonly OperationEvent[], leg: Leg): OperationEvent[] =>
  events.filter(({ data }) => data.legId === leg.id);

/**
 * The times by which a leg is drawn. The leg starts at its first event; if it has none, the
 * operation's creation counts as its start.
 */
export const timesOf = (
  operation: Operation,
  leg: Leg,
  { events, nowMs }: Pick<Surroundings, "events" | "nowMs">,
): ProgressTimes => ({
  nowMs,
  startedMs: Date.parse(eventsOf(events, leg)[0]?.createdAt ?? operation.createdAt),
  delayed: operation.subStatus === "delayed",
});

const transactionsOf = (leg: Leg): FlowTransaction[] =>
  [
    { label: "Sent", hash: leg.txHash },
    { label: "Delivered", hash: leg.destination?.txHash ?? null },
    { label: "Refund", hash: leg.refund?.txHash ?? null },
  ].flatMap(({ label, hash }) => (hash === null ? [] : [{ label, hash }]));

const legOf = (operation: Operation, leg: Leg, around: Surroundings): FlowLeg => ({
  id: leg.id,
  from: {
    name: around.addressName(leg.walletAddress),
    address: leg.walletAddress,
    chainName: around.chainName(leg.chainId),
  },
  amount: leg.sent.amount,
  symbol: leg.sent.token.symbol,
  // All legs deliver the same token, so their minimum amounts can be compared.
  worth: Number(leg.minimum.amount),
  hops: leg.route.steps.filter(isHop),
  sentence: legSentence(leg, operation.quoted.to.chainId, around.chainName),
  transactions: transactionsOf(leg),
  at: eventsOf(around.events, leg).at(-1)?.createdAt ?? null,
  ...legProgress(leg, timesOf(operation, leg, around)),
});

/** The requested amounts as legs, for an operation that has no legs yet. */
const plannedLegs = ({ quoted, status }: Operation, words: FlowWords): FlowLeg[] =>
  quoted.from.map((source, index) =>
    plannedLeg(source, words, {
      id: String(index),
      worth: 1,
      hops: [],
      sentence: isFinal(status) ? "Nothing was sent" : "Nothing was sent yet",
    }),
  );

const isNothing = (amount: string): boolean => !/[1-9]/.test(amount);

const destinationOf = (
  { quoted, actual, status, legs }: Operation,
  words: FlowWords,
): FlowModel["to"] => {
  const { to } = quoted;
  const place = {
    name: words.addressName(to.address),
    address: to.address,
    chainName: words.chainName(to.chainId),
    symbol: to.token.symbol,
  };
  const arrived = actual.received.amount;
  if (isFinal(status)) {
    const nothing = isNothing(arrived);
    return { ...place, amount: arrived, suffix: nothing ? "arrived" : null, minimum: null };
  }
  if (legs.length > 1 && !isNothing(arrived))
    return { ...place, amount: arrived, suffix: "so far", minimum: to.minAmount };
  return { ...place, amount: to.amount, suffix: "expected", minimum: to.minAmount };
};

export const operationFlow = (operation: Operation, around: Surroundings): FlowModel => ({
  legs:
    operation.legs.length === 0
      ? plannedLegs(operation, around)
      : operation.legs.map((leg) => legOf(operation, leg, around)),
  to: destinationOf(operation, around),
  fee: null,
});

/**
 * The functions below compute how much of a leg's path is filled: by confirmations while a
 * transaction is being confirmed, and by the expected time while the bridge delivers.
 */

type LegProgress = Pick<FlowLeg, "look" | "fill" | "back" | "coin">;

/** Fraction of the path that is filled once the transaction is sent. */
const SENT = 0.06;
/** Fraction of the path that is filled once the source chain has the transaction. */
const SEEN = 0.12;
/** Fraction of the path at which the bridge begins to deliver. */
const CROSSING = 0.36;
/** Fraction of the path at which the money appears on the destination chain. */
const FILLED = 0.8;
/** A leg is drawn as late after this multiple of its expected time, but not before `LATE_MIN_S`. */
const LATE_FACTOR = 3;
const LATE_MIN_S = 10;

interface Depth {
  readonly confirmations: number;
  readonly confirmationsNeeded: number;
}

const depthShare = ({ confirmations, confirmationsNeeded }: Depth): number =>
  confirmationsNeeded <= 0 ? 1 : Math.min(1, confirmations / confirmationsNeeded);

const between = (from: number, to: number, share: number): number => from + (to - from) * share;

export interface ProgressTimes {
  readonly nowMs: number;
  /** Time at which the leg began to move; null when unknown. */
  readonly startedMs: number | null;
  readonly delayed: boolean;
}

const elapsedS = ({ nowMs, startedMs }: ProgressTimes): number =>
  startedMs === null ? 0 : Math.max(0, (nowMs - startedMs) / 1000);

const timeShare = (leg: Leg, times: ProgressTimes): number =>
  Math.min(1, elapsedS(times) / Math.max(1, leg.route.estimatedSeconds));

const isLate = (leg: Leg, times: ProgressTimes): boolean =>
  times.delayed ||
  elapsedS(times) > Math.max(LATE_MIN_S, leg.route.estimatedSeconds * LATE_FACTOR);

const forward = (leg: Leg, times: ProgressTimes): number => {
  switch (leg.state) {
    case "submitted":
      return SENT;
    case "source_seen":
      return between(SEEN, leg.kind === "bridge" ? CROSSING : 1, depthShare(leg));
    case "bridging":
      return between(CROSSING, FILLED, timeShare(leg, times));
    case "filled_seen":
      return between(FILLED, 1, leg.destination === null ? 0 : depthShare(leg.destination));
    case "queued":
    case "completed":
    case "failed":
    case "refunding":
    case "refund_seen":
    case "refunded":
    case "needs_attention":
      return 0;
  }
};

export const legProgress = (leg: Leg, times: ProgressTimes): LegProgress => {
  switch (leg.state) {
    case "completed":
      return { look: "done", fill: 1, back: 0, coin: null };
    case "failed":
      return { look: "failed", fill: leg.txHash === null ? 0 : SEEN, back: 0, coin: null };
    case "refunding":
    case "needs_attention":
      return { look: "returning", fill: TURN_AT, back: 0.15, coin: "back" };
    case "refund_seen":
      return {
        look: "returning",
        fill: TURN_AT,
        back: between(0.3, 1, leg.refund === null ? 0 : depthShare(leg.refund)),
        coin: "back",
      };
    case "refunded":
      return { look: "returned", fill: TURN_AT, back: 1, coin: null };
    case "queued":
      return { look: "planned", fill: 0, back: 0, coin: null };
    case "submitted":
    case "source_seen":
    case "bridging":
    case "filled_seen":
      return {
        look: isLate(leg, times) ? "late" : "moving",
        fill: forward(leg, times),
        back: 0,
        coin: "way",
      };
  }
};

/**
 * Expected seconds until the slowest moving leg arrives. Null when no leg is moving, or when one
 * of them takes longer than expected.
 */
export const secondsLeft = (
  legs: readonly Leg[],
  times: (leg: Leg) => ProgressTimes,
): number | null => {
  const open = legs.filter((leg) => legProgress(leg, times(leg)).look === "moving");
  if (open.length === 0) return null;
  const left = Math.max(
    ...open.map((leg) => leg.route.estimatedSeconds - elapsedS(times(leg))),
  );
  return left < 1 ? null : Math.round(left);
};
